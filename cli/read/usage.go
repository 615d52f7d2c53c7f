package read

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/status"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

type usageOptions struct {
	by, since, until, project, agent string
	limit                            int
	check, json                      bool
}

// NewUsage returns the command usage.
func NewUsage(f *job.Frame) *cobra.Command {
	var o usageOptions
	c := &cobra.Command{
		Use:   "usage [--by WHAT] [flags]",
		Short: "show how many tokens were used and what they cost",
		Long: `Sum up the tokens that models read and wrote, and what they cost. Each request
to a model is counted once, even if several records or copies mention it. OUTPUT
includes the reasoning; INPUT excludes what was read from or written to the
cache. Prices come from a dated list, which the settings can override. They
depend on the tier of each request: a long prompt, a batch, and a cache that
lasts an hour have their own prices. If a model has no price, it is named and
its cost is shown as ?. RECORDED is the cost that the programs themselves
recorded, where it differs; if they recorded that of some requests only, the
cost of the same requests follows: $2.40 vs. $3.00. Days are in your time zone. Of
subscriptions to Claude Code and Codex, it is said how much of their windows is used.

--check counts everything again, from the events themselves, with the prices of the
time of each request. It lists where the cost that an agent recorded differs from
ours, by session and model, and where the sums that the store keeps are wrong.`,
		Example: `skein usage --since 7d
	skein usage --by model --json
	skein usage --check --since 30d`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	g := c.Flags()
	g.StringVar(&o.by, "by", "day", "sum up by `what`: day, model, agent, project, repository or session")
	g.StringVar(&o.since, "since", "", "only usage since `when`: 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "only usage until `when`")
	g.StringVar(&o.project, "project", "", "only the project at this `path`, in all clones")
	g.StringVar(&o.agent, "agent", "", "only the agent with this `name`")
	g.IntVarP(&o.limit, "limit", "n", 0, "show at most this `many` rows, and the rest as one row; 0 for all")
	g.BoolVar(&o.check, "check", false, "count again from the events, and show where recorded costs differ")
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	c.MarkFlagsMutuallyExclusive("by", "check")
	job.Fixed(c, "by", "day", "model", "agent", "project", "repository", "session")
	return c
}

// A usageLine is one sum.
type usageLine struct {
	price.Sum
	name string // of a session
}

func (o *usageOptions) run(ctx context.Context, j *job.Job, _ []string) error {
	q, err := o.query(j)
	if err != nil {
		return err
	}
	table, err := price.Load(j.Settings.Prices...)
	if err != nil {
		return err
	}
	if o.check {
		return o.recount(ctx, j, q, table)
	}
	rows, err := j.Store.Usage(ctx, q)
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
	windows, err := status.PlanWindows(ctx, j)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		j.Say("nothing was used")
		tellWindows(j, windows)
		return nil
	}
	t, unpriced := o.table(j, lines)
	err = j.Page(ctx, func(w io.Writer) error { return j.Table(w, t) })
	if len(unpriced) > 0 {
		j.Say("not in the cost, because no price is known: %s\nto set one, see: skein help config", strings.Join(unpriced, ", "))
	}
	tellWindows(j, windows)
	return err
}

func writeUsage(w io.Writer, lines []usageLine) error {
	for _, l := range lines {
		line := l.Line()
		line.Name = l.name
		if err := job.WriteJSON(w, line); err != nil {
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

func (o *usageOptions) query(j *job.Job) (q skein.UsageQuery, err error) {
	by := []skein.Dimension{skein.ByDay, skein.ByModelID, skein.ByAgent, skein.ByProject, skein.ByRepository, skein.BySession}
	q = skein.UsageQuery{By: skein.Dimension(o.by), Agent: o.agent, Zone: j.Now().Location()}
	if !slices.Contains(by, q.By) {
		return q, fault.Usage("--by %q: want day, model, agent, project, repository or session", o.by)
	}
	if o.limit < 0 {
		return q, fault.Usage("--limit %d: want 0 or more", o.limit)
	}
	if q.Since, q.Until, err = terminal.Span(o.since, o.until, j.Now()); err != nil || o.project == "" {
		return q, err
	}
	q.Project, q.Repository, err = j.ClonesOf(o.project)
	return q, err
}

func nameSessions(ctx context.Context, j *job.Job, lines []usageLine) error {
	ids := make([]skein.SessionID, len(lines))
	for i := range lines {
		ids[i] = skein.SessionID(lines[i].Of)
	}
	of, err := lookup.ByID(ctx, j.Store, ids)
	hide := sessions.Secrets(false).Mask()
	for i := range lines {
		s := hide.Session(of[ids[i]]) // the zero session, if it was deleted meanwhile
		lines[i].name = s.Name()
	}
	return err
}

// table returns as many of lines as the options ask for, and the total of all; and
// the models that have no price.
func (o *usageOptions) table(j *job.Job, lines []usageLine) (t *terminal.Table, unpriced []string) {
	t = &terminal.Table{Columns: []terminal.Column{
		{Title: strings.ToUpper(o.by), Rank: 0, Min: 20, Left: o.by == string(skein.ByProject) || o.by == string(skein.ByRepository)},
		{Title: "TITLE", Rank: 2, Min: 16},
		{Title: "REQUESTS", Rank: 8, Right: true},
		{Title: "INPUT", Rank: 4, Right: true},
		{Title: "OUTPUT", Rank: 3, Right: true},
		{Title: "REASONING", Rank: 7, Right: true},
		{Title: "CACHE READ", Rank: 5, Right: true},
		{Title: "CACHE WRITE", Rank: 6, Right: true},
		{Title: "COST", Rank: 1, Right: true},
		{Title: "RECORDED", Rank: 9, Right: true},
	}}
	shown := o.most(lines)
	for i, of := range o.names(j, shown) {
		t.Rows = append(t.Rows, shown[i].cells(of))
	}
	others, total := sum(lines[len(shown):]), sum(lines)
	if n := len(lines) - len(shown); n > 0 {
		t.Rows = append(t.Rows, others.cells(fmt.Sprintf("%d more", n)))
	}
	if len(lines) > 1 {
		t.Rows = append(t.Rows, total.cells("total"))
	}
	return t, total.Unpriced
}

// names returns the name of each of lines.
func (o *usageOptions) names(j *job.Job, lines []usageLine) (names []string) {
	var ids []skein.SessionID
	for _, l := range lines {
		names = append(names, cmp.Or(render.Line(l.Of), "(unknown)"))
		ids = append(ids, skein.SessionID(l.Of))
	}
	switch skein.Dimension(o.by) {
	case skein.BySession:
		return lookup.ShortIDs(ids)
	case skein.ByProject, skein.ByRepository:
		for i := range names {
			names[i] = j.Tilde(names[i])
		}
	}
	return names
}

func sum(lines []usageLine) (total usageLine) {
	for _, l := range lines {
		total.Sum = total.Plus(l.Sum)
	}
	return total
}

func (l *usageLine) cells(of string) []string {
	u := l.Usage
	return []string{
		of, render.Line(l.name), thousands(u.Requests), thousands(u.Input), thousands(u.Output), thousands(u.Reasoning),
		thousands(u.CacheRead), thousands(u.CacheWrite), l.Money(), l.Recorded(),
	}
}

// thousands returns n with commas; "" for 0.
func thousands(n int64) string {
	if n == 0 {
		return ""
	}
	return render.Count(n)
}
