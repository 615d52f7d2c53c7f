package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
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
		Short: "what the models used and what it cost",
		Long: `Sum up the tokens that models read and wrote, and what that cost. Each request
to a model is counted once, however many records and copies tell of it. Prices
are those of a dated list, which the settings can override; models that it does
not know are named and not counted as free. Days are those of your time zone.`,
		Example: `skein usage --since 7d
	skein usage --by model --json`,
		Args: words(0, 0, ""),
		RunE: f.withStore(o.run),
	}
	g := c.Flags()
	g.StringVar(&o.by, "by", "day", "sum by day, model, agent, project or session (`what`)")
	g.StringVar(&o.since, "since", "", "used since `when`: 2d, yesterday, 2026-11-21")
	g.StringVar(&o.until, "until", "", "used until `when`")
	g.StringVar(&o.project, "project", "", "of the project at this `path`")
	g.StringVar(&o.agent, "agent", "", "of this agent (`name`)")
	g.IntVarP(&o.limit, "limit", "n", 0, "at most this `many` rows; 0 for all")
	jsonFlag(c, &o.json)
	return c
}

// A usageLine is one sum, in JSON.
type usageLine struct {
	Of       string   `json:"of"`             // the day, model, agent, project or session ID
	Name     string   `json:"name,omitempty"` // of a session
	Requests int64    `json:"requests"`
	Input    int64    `json:"input"`
	Output   int64    `json:"output"` // reasoning included
	Reason   int64    `json:"reasoning"`
	Read     int64    `json:"cache_read"`
	Write    int64    `json:"cache_write"`
	Cost     *float64 `json:"cost_usd"`   // null if some of it has no known price
	Known    float64  `json:"priced_usd"` // what is known of it
	Unpriced []string `json:"unpriced_models,omitempty"`
	cost     cost
	usage    skein.Usage
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
	lines := sumUsage(rows, q.By, table)
	if q.By == skein.BySession {
		if err := nameSessions(ctx, j, lines); err != nil {
			return err
		}
	}
	if o.limit > 0 && len(lines) > o.limit {
		lines = lines[:o.limit]
	}
	if o.json {
		for _, l := range lines {
			if err := writeJSON(j.Stdout, l); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		j.say("nothing was used")
		return nil
	}
	t, unpriced := o.table(j, lines)
	err = j.page(ctx, func(w io.Writer) error { return t.write(w, j.Terminal.columns(), j.paint.bold) })
	if len(unpriced) > 0 {
		j.say("no price is known for %s; their tokens are counted, their cost is not", strings.Join(unpriced, ", "))
	}
	return err
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

// sumUsage puts the rows of one value together, in the order in which the
// values come.
func sumUsage(rows []skein.UsageRow, by skein.Dimension, prices *price.Table) []usageLine {
	var out []usageLine
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[r.Of]
		if !ok {
			i = len(out)
			at[r.Of] = i
			out = append(out, usageLine{Of: r.Of})
		}
		var day skein.Time
		if by == skein.ByDay && r.Of != "" {
			day, _ = skein.ParseTime(r.Of + "T12:00:00Z")
		}
		usd, known := prices.Cost(r.Provider, r.Model, day, r.Usage)
		out[i].add(r, usd, known)
	}
	for i := range out {
		l := &out[i]
		u := l.usage
		l.Requests, l.Input, l.Output, l.Reason, l.Read, l.Write = u.Requests, u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite
		slices.Sort(l.cost.unpriced)
		l.cost.unpriced = slices.Compact(l.cost.unpriced)
		l.Unpriced, l.Cost, l.Known = l.cost.unpriced, l.cost.usd(), float64(l.cost.NanoUSD)/1e9
	}
	return out
}

func (l *usageLine) add(r skein.UsageRow, usd price.NanoUSD, known bool) {
	l.usage = l.usage.Plus(r.Usage)
	l.cost.NanoUSD += usd
	if !known {
		l.cost.unpriced = append(l.cost.unpriced, cmp.Or(r.Model, "an unnamed model"))
	}
}

func nameSessions(ctx context.Context, j *job, lines []usageLine) error {
	for i := range lines {
		s, err := j.store.Session(ctx, skein.SessionID(lines[i].Of))
		if err != nil && !gone(err) {
			return err
		}
		lines[i].Name = s.Name()
	}
	return nil
}

func (o *usageOptions) table(j *job, lines []usageLine) (t *table, unpriced []string) {
	t = &table{columns: []column{
		{title: strings.ToUpper(o.by), rank: 0, min: 10, left: o.by == string(skein.ByProject)},
		{title: "TITLE", rank: 4, min: 16},
		{title: "REQUESTS", rank: 8, right: true},
		{title: "INPUT", rank: 2, right: true},
		{title: "OUTPUT", rank: 3, right: true},
		{title: "REASONING", rank: 7, right: true},
		{title: "CACHE READ", rank: 5, right: true},
		{title: "CACHE WRITE", rank: 6, right: true},
		{title: "COST", rank: 1, right: true},
	}}
	total := usageLine{}
	for _, l := range lines {
		of := render.Line(l.Of)
		switch {
		case of == "":
			of = "(unknown)"
		case o.by == string(skein.BySession):
			of = shortID(skein.SessionID(l.Of))
		case o.by == string(skein.ByProject):
			of = render.Line(j.tilde(l.Of))
		}
		t.rows = append(t.rows, l.cells(of))
		total.usage = total.usage.Plus(l.usage)
		total.cost.NanoUSD += l.cost.NanoUSD
		total.cost.unpriced = append(total.cost.unpriced, l.cost.unpriced...)
	}
	if len(lines) > 1 {
		t.rows = append(t.rows, total.cells("total"))
	}
	slices.Sort(total.cost.unpriced)
	return t, slices.Compact(total.cost.unpriced)
}

func (l *usageLine) cells(of string) []string {
	u := l.usage
	return []string{
		of, render.Line(l.Name), thousands(u.Requests), thousands(u.Input), thousands(u.Output), thousands(u.Reasoning),
		thousands(u.CacheRead), thousands(u.CacheWrite), l.cost.String(),
	}
}

// thousands returns n with commas: 1,234,567; "" for 0.
func thousands(n int64) string {
	if n == 0 {
		return ""
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
