package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// usagePages show what sessions used.
type usagePages struct{ *site }

// routes are the routes of usage.
func (s usagePages) routes() []door.Route {
	return []door.Route{read("/usage", s.usage)}
}

// mostShown is how many models, agents, projects and sessions the page names;
// the others are summed up in one line.
const mostShown = 12

// usageAsked is the form of the page.
type usageAsked struct{ Since, Until, Project, Agent, Stack string }

// usagePage is the data of the page.
type usagePage struct {
	Asked    usageAsked
	Spans    []usageSpan
	Months   []usageSpan
	Total    price.Sum
	Share    string // of the input that came from the cache; "" if there was no input
	Days     int    // with any usage
	Unpriced []string
	Priced   bool          // costs are known for any of it
	PricesOf string        // date of the price list
	Budgets  []price.Spent // nearly used, or used up
	Cost     *chart
	Tokens   *chart
	Heat     []heatRow
	Tables   []usageTable
}

// usageSpan is a link to a period of time.
type usageSpan struct {
	Title, Path string
	At          bool
}

// usageTable is the sums by one dimension.
type usageTable struct {
	ID, Title, Of string
	Rows          []usageRow
}

// usageRow is a row of such a table.
type usageRow struct {
	price.Sum
	Name  string
	Path  string // "" for no link
	Share int    // of the largest, in thousandths: the length of its bar
}

// usage shows the usage by day, model, agent, project and session.
func (s usagePages) usage(w http.ResponseWriter, r *http.Request) {
	in := r.URL.Query()
	asked := usageAsked{in.Get("since"), in.Get("until"), in.Get("project"), in.Get("agent"), in.Get("stack")}
	var err error
	if !in.Has("since") {
		asked, err = s.firstUsed(r.Context(), asked)
	}
	if err == nil && asked.Stack != "" && !slices.Contains(stacks(), skein.Dimension(asked.Stack)) {
		err = fmt.Errorf("stack=%q: %w: want model, agent, repository or branch", asked.Stack, skein.ErrInvalid)
	}
	if err == nil && in.Has("csv") {
		if err = s.csv(w, r, asked, skein.Dimension(in.Get("csv"))); err == nil {
			return
		}
	}
	var p *usagePage
	if err == nil {
		p, err = s.usageOf(r.Context(), asked)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, "usage", layoutData{Title: "Usage", At: "usage", Data: p})
}

// query returns the query for the store.
func (a usageAsked) query(now time.Time) (q skein.UsageQuery, err error) {
	q = skein.UsageQuery{Project: a.Project, Repository: a.Project, Agent: a.Agent, Zone: now.Location()}
	if a.Since != "" {
		if q.Since, err = search.ParseSince(a.Since, now); err != nil {
			return q, err
		}
	}
	if a.Until != "" {
		q.Until, err = search.ParseUntil(a.Until, now)
	}
	return q, err
}

// usageOf adds up the usage.
func (s usagePages) usageOf(ctx context.Context, asked usageAsked) (*usagePage, error) {
	q, err := asked.query(s.Now())
	if err != nil {
		return nil, err
	}
	p := &usagePage{Asked: asked, Spans: spansOf(asked), Months: monthsOf(asked, s.Now())}
	table := &price.List{}
	if s.Prices != nil {
		if table, err = s.Prices(); err != nil {
			return nil, err
		}
		p.Priced, p.PricesOf = true, table.Date
	}
	sums := func(by skein.Dimension) ([]price.Sum, error) {
		q.By = by
		rows, err := door.From(ctx).Store.Usage(ctx, q)
		return table.Sums(rows, by), err
	}
	days, err := sums(skein.ByDay)
	if err != nil {
		return nil, err
	}
	p.total(days)
	p.charts(days)
	if asked.Stack != "" {
		if err := s.stacked(ctx, p, table, q, days); err != nil {
			return nil, err
		}
	}
	if err := s.heat(ctx, p, table, q); err != nil {
		return nil, err
	}
	if s.Budgets != nil {
		all, err := s.Budgets(ctx)
		if err != nil {
			return nil, err
		}
		p.Budgets = slices.DeleteFunc(all, func(b price.Spent) bool { return b.Percent < price.Near })
	}
	for _, t := range []usageTable{
		{ID: "model", Title: "Models", Of: "Model"},
		{ID: "agent", Title: "Agents", Of: "Agent"},
		{ID: "repository", Title: "Projects", Of: "Project"},
		{ID: "session", Title: "Most expensive sessions", Of: "Session"},
		{ID: "day", Title: "Days", Of: "Day"},
	} {
		all := days
		if t.ID != "day" {
			if all, err = sums(skein.Dimension(t.ID)); err != nil {
				return nil, err
			}
		}
		if t.Rows, err = s.usageRows(ctx, skein.Dimension(t.ID), all); err != nil {
			return nil, err
		}
		p.Tables = append(p.Tables, t)
	}
	return p, nil
}

// total adds up all days.
func (p *usagePage) total(days []price.Sum) {
	for _, d := range days {
		p.Total = p.Total.Plus(d)
		p.Days++
	}
	p.Unpriced = p.Total.Unpriced
	u := p.Total.Usage
	if read := u.Prompt(); read > 0 {
		p.Share = percent(u.CacheRead, read)
	}
}

// charts draws the days.
func (p *usagePage) charts(days []price.Sum) {
	steps := stepsOf(days)
	if len(steps) == 0 {
		return
	}
	if p.Priced {
		p.Cost = newChart("Cost", steps, costMeasure(), "Cost")
	}
	p.Tokens = newChart("Tokens", steps, tokenMeasure(), "Cache read", "Cache write", "Input", "Output")
}

// usageRows returns the rows of a dimension.
func (s usagePages) usageRows(ctx context.Context, by skein.Dimension, all []price.Sum) (rows []usageRow, err error) {
	shown, rest := all, all[:0]
	if len(all) > mostShown+1 && by != skein.ByDay {
		shown, rest = all[:mostShown], all[mostShown:]
	}
	var most int64
	for _, a := range shown {
		most = max(most, weight(a, all))
	}
	var named map[skein.SessionID]skein.Session
	if by == skein.BySession {
		ids := make([]skein.SessionID, len(shown))
		for i, a := range shown {
			ids[i] = skein.SessionID(a.Of)
		}
		if named, err = lookup.ByID(ctx, door.From(ctx).Store, ids); err != nil {
			return nil, err
		}
	}
	for _, a := range shown {
		row := usageRow{Sum: a, Name: cmp.Or(a.Of, "(unknown)"), Share: int(1000 * weight(a, all) / max(most, 1))}
		if one, ok := named[skein.SessionID(a.Of)]; ok {
			one = s.veiled(one)
			row.Name, row.Path = one.Name(), transcript.SessionPath(one.ID)
		} else {
			row.Path = rowPath(by, a.Of)
		}
		rows = append(rows, row)
	}
	if len(rest) > 0 {
		others := usageRow{Name: plural(len(rest), "other")}
		for _, a := range rest {
			others.Sum = others.Plus(a)
		}
		rows = append(rows, others)
	}
	return rows, nil
}

// weight returns what the length of bars stands for: the cost, or the tokens if
// nothing has a price.
func weight(one price.Sum, all []price.Sum) int64 {
	if slices.ContainsFunc(all, func(a price.Sum) bool { return a.Cost > 0 }) {
		return int64(one.Cost)
	}
	return one.Usage.Tokens()
}

// rowPath returns the path of the list of what a row stands for; "" for no link.
func rowPath(by skein.Dimension, of string) string {
	key := string(by)
	switch {
	case of == "", by == skein.BySession:
		return ""
	case by == skein.ByRepository: // or the path of a project
		return projectPath(of)
	case by == skein.ByDay:
		return "/?" + url.Values{"since": {of}, "until": {of}}.Encode()
	}
	return "/?" + url.Values{key: {of}}.Encode()
}

// spansOf returns links to common periods of time.
func spansOf(asked usageAsked) (spans []usageSpan) {
	for _, c := range [][2]string{{"7 days", "7d"}, {"30 days", "30d"}, {"90 days", "90d"}, {"1 year", "365d"}, {"All", ""}} {
		other := asked
		other.Since, other.Until = c[1], ""
		v := other.values()
		spans = append(spans, usageSpan{c[0], "/usage?" + v.Encode(), asked.Until == "" && asked.Since == c[1]})
	}
	return spans
}

// monthsOf returns links to the last twelve months, the newest first.
func monthsOf(asked usageAsked, now time.Time) (months []usageSpan) {
	for i := range 12 {
		first := time.Date(now.Year(), now.Month()-time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		other := asked
		other.Since, other.Until = first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly)
		months = append(months, usageSpan{first.Format("Jan 2006"), "/usage?" + other.values().Encode(), asked.Since == other.Since && asked.Until == other.Until})
	}
	return months
}

// percent returns part as a percentage of all: 12 %, <1 %.
func percent(part, all int64) string {
	switch n := 100 * part / max(all, 1); {
	case part > 0 && n == 0:
		return "<1 %"
	default:
		return strings.TrimSpace(render.Short(n)) + " %"
	}
}
