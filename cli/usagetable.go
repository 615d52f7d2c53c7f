package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// table returns as many of lines as the options ask for, and the total of all; and
// the models that have no price.
func (o *usageOptions) table(j *job, lines []usageLine) (t *table, unpriced []string) {
	t = &table{columns: []column{
		{title: strings.ToUpper(o.by), rank: 0, min: 20, left: o.by == string(skein.ByProject)},
		{title: "TITLE", rank: 2, min: 16, piped: pipedTitle},
		{title: "REQUESTS", rank: 8, right: true},
		{title: "INPUT", rank: 4, right: true},
		{title: "OUTPUT", rank: 3, right: true},
		{title: "REASONING", rank: 7, right: true},
		{title: "CACHE READ", rank: 5, right: true},
		{title: "CACHE WRITE", rank: 6, right: true},
		{title: "COST", rank: 1, right: true},
		{title: "RECORDED", rank: 9, right: true},
	}}
	shown := o.most(lines)
	for i, of := range o.names(j, shown) {
		t.rows = append(t.rows, shown[i].cells(of))
	}
	others, total := sum(lines[len(shown):]), sum(lines)
	if n := len(lines) - len(shown); n > 0 {
		t.rows = append(t.rows, others.cells(fmt.Sprintf("%d more", n)))
	}
	if len(lines) > 1 {
		t.rows = append(t.rows, total.cells("total"))
	}
	return t, total.Unpriced
}

// names returns the name of each of lines.
func (o *usageOptions) names(j *job, lines []usageLine) (names []string) {
	var ids []skein.SessionID
	for _, l := range lines {
		names = append(names, cmp.Or(render.Line(l.Of), "(unknown)"))
		ids = append(ids, skein.SessionID(l.Of))
	}
	switch skein.Dimension(o.by) {
	case skein.BySession:
		return lookup.ShortIDs(ids)
	case skein.ByProject:
		for i := range names {
			names[i] = j.tilde(names[i])
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
