package cli

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

type usageOptions struct {
	by, since, until, project, agent string
	limit                            int
	json                             bool
}

func newUsage(f *frame) *cobra.Command {
	var o usageOptions
	c := &cobra.Command{
		Use:   "usage [--by day|model|agent|project|session] [flags]",
		Short: "show how many tokens were used and what they cost",
		Long: `Sum up the tokens that models read and wrote, and what they cost. Each request
to a model is counted once, even if several records or copies mention it. OUTPUT
includes the reasoning; INPUT excludes what was read from or written to the
cache. Prices come from a dated list, which the settings can override. They
depend on the tier of each request: a long prompt, a batch, and a cache that
lasts an hour have their own prices. If a model has no price, it is named and
its cost is shown as ?. RECORDED is the cost that the programs themselves
recorded, where it differs. Days are in your time zone.`,
		Example: `skein usage --since 7d
	skein usage --by model --json`,
		Args: words(0, 0, ""),
		RunE: f.withStore(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	g := c.Flags()
	g.StringVar(&o.by, "by", "day", "sum up by `what`: day, model, agent, project or session")
	g.StringVar(&o.since, "since", "", "only usage since `when`: 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "only usage until `when`")
	g.StringVar(&o.project, "project", "", "only the project at this `path`")
	g.StringVar(&o.agent, "agent", "", "only the agent with this `name`")
	g.IntVarP(&o.limit, "limit", "n", 0, "show at most this `many` rows, and the rest as one row; 0 for all")
	f.wideFlag(c)
	jsonFlag(c, &o.json)
	fixed(c, "by", "day", "model", "agent", "project", "session")
	return c
}

// A usageLine is one sum.
type usageLine struct {
	price.Sum
	name string // of a session
}

func (o *usageOptions) run(ctx context.Context, j *job, _ []string) error {
	q, err := o.query(j)
	if err != nil {
		return err
	}
	rows, err := j.store.Usage(ctx, q)
	if err != nil {
		return err
	}
	table, err := price.Load(j.settings.prices...)
	if err != nil {
		return err
	}
	var lines []usageLine
	for _, s := range table.Sums(rows, q.By) {
		lines = append(lines, usageLine{Sum: s})
	}
	if q.By == skein.BySession {
		if err := nameSessions(ctx, j, o.most(lines)); err != nil {
			return err
		}
	}
	if o.json {
		return writeUsage(j.Stdout, o.most(lines))
	}
	if len(lines) == 0 {
		j.say("nothing was used")
		return nil
	}
	t, unpriced := o.table(j, lines)
	err = j.page(ctx, func(w io.Writer) error { return j.table(w, t) })
	if len(unpriced) > 0 {
		j.say("not in the cost, for no price is known: %s\nto set one, see: skein help config", strings.Join(unpriced, ", "))
	}
	return err
}

func writeUsage(w io.Writer, lines []usageLine) error {
	for _, l := range lines {
		line := l.Line()
		line.Name = l.name
		if err := writeJSON(w, line); err != nil {
			return err
		}
	}
	return nil
}

// most returns as many of lines as the options ask for.
func (o *usageOptions) most(lines []usageLine) []usageLine {
	if o.limit > 0 && len(lines) > o.limit {
		return lines[:o.limit]
	}
	return lines
}

func (o *usageOptions) query(j *job) (q skein.UsageQuery, err error) {
	by := []skein.Dimension{skein.ByDay, skein.ByModelID, skein.ByAgent, skein.ByProject, skein.BySession}
	q = skein.UsageQuery{By: skein.Dimension(o.by), Agent: o.agent, Zone: j.Now().Location()}
	if !slices.Contains(by, q.By) {
		return q, usagef("--by %q: want day, model, agent, project or session", o.by)
	}
	if o.limit < 0 {
		return q, usagef("--limit %d: want 0 or more", o.limit)
	}
	if q.Since, q.Until, err = span(o.since, o.until, j.Now()); err != nil || o.project == "" {
		return q, err
	}
	q.Project, err = j.projectOf(o.project)
	return q, err
}

func nameSessions(ctx context.Context, j *job, lines []usageLine) error {
	for i := range lines {
		s, err := j.store.Session(ctx, skein.SessionID(lines[i].Of))
		if err != nil && !gone(err) {
			return err
		}
		lines[i].name = s.Name()
	}
	return nil
}
