package price

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A Sum is what all rows of one value of a dimension add up to: a day, a model,
// a session.
type Sum struct {
	Of       string
	Usage    skein.Usage
	Cost     NanoUSD  // of what has a price
	Unpriced []string // models without one, by name, each once
}

// Sums puts the rows of one value together: days in the order in which they
// come, all else with the largest cost first. Days have the prices of their
// noon, in UTC, all else the newest ones.
func (t *Table) Sums(rows []skein.UsageRow, by skein.Dimension) []Sum {
	var out []Sum
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[r.Of]
		if !ok {
			i = len(out)
			at[r.Of] = i
			out = append(out, Sum{Of: r.Of})
		}
		var day skein.Time
		if by == skein.ByDay && r.Of != "" {
			day, _ = skein.ParseTime(r.Of + "T12:00:00Z")
		}
		usd, known := t.Cost(r.Provider, r.Model, day, r.Usage)
		one := Sum{Usage: r.Usage, Cost: usd}
		if !known {
			one.Unpriced = []string{cmp.Or(r.Model, "an unnamed model")}
		}
		out[i] = out[i].Plus(one)
	}
	if by != skein.ByDay {
		slices.SortStableFunc(out, func(a, b Sum) int { return cmp.Compare(b.Cost, a.Cost) })
	}
	return out
}

// Plus returns what s and u are together, under the name of s.
func (s Sum) Plus(u Sum) Sum {
	s.Usage = s.Usage.Plus(u.Usage)
	s.Cost += u.Cost
	if len(u.Unpriced) > 0 {
		all := slices.Concat(s.Unpriced, u.Unpriced)
		slices.Sort(all)
		s.Unpriced = slices.Compact(all)
	}
	return s
}

// Money returns what s cost for people, to the cent: $1.20, >$1.20 if some of it
// has no price, ? if none has, "" if nothing was used.
func (s Sum) Money() string {
	usd := float64(s.Cost) / 1e9
	switch {
	case s.Cost == 0 && len(s.Unpriced) > 0:
		return "?"
	case s.Cost == 0:
		return ""
	case len(s.Unpriced) > 0:
		return fmt.Sprintf(">$%.2f", usd)
	case s.Cost < 1e7:
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}
