package web

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// firstUsed returns asked with the first of the usual periods in which anything was
// used, so that the page does not open on zeros.
func (s usagePages) firstUsed(ctx context.Context, asked usageAsked) (usageAsked, error) {
	for _, since := range []string{"30d", "90d", "365d", ""} {
		asked.Since = since
		q, err := asked.query(s.Now())
		if err != nil {
			return asked, err
		}
		rows, err := door.From(ctx).Store.Usage(ctx, q)
		if err != nil || len(rows) > 0 {
			return asked, err
		}
	}
	asked.Since = "30d"
	return asked, nil
}

// values returns what was asked for as parameters.
func (a usageAsked) values() url.Values {
	v := url.Values{"since": {a.Since}}
	for name, value := range map[string]string{"until": a.Until, "project": a.Project, "agent": a.Agent, "stack": a.Stack} {
		if value != "" {
			v.Set(name, value)
		}
	}
	return v
}

// CSV returns the path of a table as CSV.
func (p *usagePage) CSV(by string) string {
	v := p.Asked.values()
	v.Set("csv", by)
	return "/usage?" + v.Encode()
}

// stacks returns what the days can be divided by.
func stacks() []skein.Dimension {
	return []skein.Dimension{skein.ByModelID, skein.ByAgent, skein.ByRepository, skein.ByBranch}
}

// Stacks returns links that divide the days by something else.
func (p *usagePage) Stacks() (all []usageSpan) {
	for _, by := range stacks() {
		v := p.Asked.values()
		v.Set("stack", string(by))
		title := string(by)
		if by == skein.ByRepository {
			title = "project"
		}
		all = append(all, usageSpan{title, "/usage?" + v.Encode(), p.Asked.Stack == string(by)})
	}
	return all
}

// csv answers with the sums of a dimension as CSV.
func (s usagePages) csv(w http.ResponseWriter, r *http.Request, asked usageAsked, by skein.Dimension) error {
	q, err := asked.query(s.Now())
	if err != nil {
		return err
	}
	table := &price.List{}
	if s.Prices != nil {
		if table, err = s.Prices(); err != nil {
			return err
		}
	}
	q.By = by
	rows, err := door.From(r.Context()).Store.Usage(r.Context(), q)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="usage-by-`+string(by)+`.csv"`)
	out := csv.NewWriter(w)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	lines := [][]string{{string(by), "cost_usd", "requests", "input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens"}}
	for _, sum := range table.Sums(rows, by) {
		cost := ""
		if usd := sum.USD(); usd != nil {
			cost = strconv.FormatFloat(*usd, 'f', 6, 64)
		}
		u := sum.Usage
		lines = append(lines, []string{plainCell(s.Redact(render.Line(sum.Of))), cost, number(u.Requests), number(u.Input), number(u.Output), number(u.Reasoning), number(u.CacheRead), number(u.CacheWrite)})
	}
	return out.WriteAll(lines)
}

// plainCell returns text as a spreadsheet shows it: one that begins like a formula gets
// an apostrophe before it, so that it is not computed.
func plainCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// mostStacked is how many values of a stacked chart have a color; the others are one.
const mostStacked = 5

// stacked draws the days divided by a dimension.
func (s usagePages) stacked(ctx context.Context, p *usagePage, table *price.List, q skein.UsageQuery, days []price.Sum) error {
	by := skein.Dimension(p.Asked.Stack)
	q.By, q.Then = skein.ByDay, by
	rows, err := door.From(ctx).Store.Usage(ctx, q)
	if err != nil {
		return err
	}
	of := map[string][]skein.UsageRow{}
	for _, r := range rows {
		of[r.Then] = append(of[r.Then], r)
	}
	type series struct {
		name string
		days map[string]price.Sum
		all  int64
	}
	value := func(sum price.Sum) int64 {
		if p.Priced {
			return int64(sum.Cost)
		}
		return sum.Usage.Tokens()
	}
	var all []series
	for name, rows := range of {
		one := series{cmp.Or(name, "(unknown)"), map[string]price.Sum{}, 0}
		if by == skein.ByRepository && name != "" {
			one.name = base(name)
		}
		for _, sum := range table.Sums(rows, skein.ByDay) {
			one.days[sum.Of] = sum
			one.all += value(sum)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b series) int { return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(a.name, b.name)) })
	if len(all) > mostStacked+1 {
		rest := series{"others", map[string]price.Sum{}, 0}
		for _, one := range all[mostStacked:] {
			for day, sum := range one.days {
				rest.days[day] = rest.days[day].Plus(sum)
			}
		}
		all = append(all[:mostStacked], rest)
	}
	parts := map[string][]int64{} // by the name of a step
	var names []string
	for i, one := range all {
		names = append(names, s.Redact(render.Line(one.name)))
		own := make([]price.Sum, len(days))
		for k, d := range days {
			own[k] = one.days[d.Of]
			own[k].Of = d.Of
		}
		for _, step := range stepsOf(own) {
			if parts[step.name] == nil {
				parts[step.name] = make([]int64, len(all))
			}
			parts[step.name][i] = value(step.sum)
		}
	}
	m, title := costMeasure(), "Cost"
	if !p.Priced {
		m, title = tokenMeasure(), "Tokens"
	}
	m.values = func(sum price.Sum) []int64 { return parts[sum.Of] }
	if steps := stepsOf(days); len(steps) > 0 {
		p.Cost = newChart(title, steps, m, names...)
	}
	return nil
}

// A heatRow is a day of the week, by its hours.
type heatRow struct {
	Day   string
	Hours []heatCell
}

// A heatCell is an hour of a day of the week.
type heatCell struct {
	X, Y  int
	Class string // h0 to h4
	Label string // for people
	Value string
}

// heat sums the usage by day of the week and hour.
func (s usagePages) heat(ctx context.Context, p *usagePage, table *price.List, q skein.UsageQuery) error {
	q.By = skein.BySlot
	rows, err := door.From(ctx).Store.Usage(ctx, q)
	if err != nil {
		return err
	}
	var cells [7][24]price.Sum
	for _, r := range rows {
		at, err := skein.ParseTime(r.Of)
		if err != nil {
			continue // without a time
		}
		t := at.Std().In(s.Now().Location())
		c := &cells[(int(t.Weekday())+6)%7][t.Hour()]
		*c = c.Plus(table.Sum([]skein.UsageRow{r}, at))
	}
	var all []price.Sum
	for d := range cells {
		all = append(all, cells[d][:]...)
	}
	var most int64
	for _, c := range all {
		most = max(most, weight(c, all))
	}
	if most == 0 {
		return nil
	}
	for d := range cells {
		day := time.Weekday((d + 1) % 7).String()
		row := heatRow{Day: day}
		for h, sum := range cells[d] {
			value := cmp.Or(sum.Money(), render.Short(sum.Usage.Tokens())+" tokens")
			if sum.Usage == (skein.Usage{}) {
				value = ""
			}
			n := weight(sum, all)
			row.Hours = append(row.Hours, heatCell{h, d, "h" + strconv.Itoa(int((n*4+most-1)/most)), fmt.Sprintf("%s %02d:00: %s", day, h, cmp.Or(value, "nothing")), value})
		}
		p.Heat = append(p.Heat, row)
	}
	return nil
}
