package price

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A Sum is the sum of all rows with one value of a dimension: a day, a model, a
// session.
type Sum struct {
	Of       string
	Usage    skein.Usage
	Cost     NanoUSD  // of the usage that has a price
	Unpriced []string // names of the models without a price, each once

	ours    NanoUSD // of the requests whose cost the programs recorded
	differs bool    // they recorded a different cost for some of it
}

// Sums adds up the rows of each value of by: days in the order of the rows,
// others with the largest cost first. Days are priced at noon UTC, others at
// the newest prices.
func (t *List) Sums(rows []skein.UsageRow, by skein.Dimension) []Sum {
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
		out[i] = out[i].Plus(t.Sum([]skein.UsageRow{r}, day))
	}
	if by != skein.ByDay {
		slices.SortStableFunc(out, func(a, b Sum) int { return cmp.Compare(b.Cost, a.Cost) })
	}
	return out
}

// Sum adds up all rows, at the prices of a time, without a name.
func (t *List) Sum(rows []skein.UsageRow, at skein.Time) (sum Sum) {
	for _, r := range rows {
		rest, same := r, r
		rest.Usage, same.Usage = r.Usage.Minus(r.Recorded), r.Recorded
		usd, known := t.Cost(rest, at)
		ours, _ := t.Cost(same, at) // without a price, what was recorded
		recorded := NanoUSD(r.Usage.Reported)
		one := Sum{Usage: r.Usage, Cost: usd + ours, ours: ours, differs: size(recorded-ours) >= cent/2}
		if !known {
			one.Unpriced = []string{cmp.Or(r.Model, "an unnamed model")}
		}
		sum = sum.Plus(one)
	}
	return sum
}

const cent NanoUSD = 1e7

// Plus returns the sum of s and u, with the name of s.
func (s Sum) Plus(u Sum) Sum {
	s.Usage = s.Usage.Plus(u.Usage)
	s.Cost += u.Cost
	s.ours += u.ours
	s.differs = s.differs || u.differs
	if len(u.Unpriced) > 0 {
		all := slices.Concat(s.Unpriced, u.Unpriced)
		slices.Sort(all)
		s.Unpriced = slices.Compact(all)
	}
	return s
}

// Total adds sums up, without a name.
func Total(all []Sum) (total Sum) {
	for _, s := range all {
		total = total.Plus(s)
	}
	return total
}

// Money returns the cost of s for people, to the cent: $1.20, >$1.20 if some of
// it has no price, ? if all of it has none, "" if nothing was used.
func (s Sum) Money() string {
	switch {
	case s.Cost == 0 && len(s.Unpriced) > 0:
		return "?"
	case len(s.Unpriced) > 0:
		return fmt.Sprintf(">$%.2f", float64(s.Cost)/1e9)
	}
	return cents(s.Cost)
}

// Recorded returns for people the cost that the programs themselves recorded; ""
// if it is equal to ours. If they recorded it for only some of the requests, ours
// of the same requests follows: "$1.15 vs. $1.20".
func (s Sum) Recorded() string {
	if !s.differs {
		return ""
	}
	recorded := cmp.Or(cents(NanoUSD(s.Usage.Reported)), "$0.00")
	if ours := cmp.Or(cents(s.ours), "$0.00"); ours != s.Money() {
		return recorded + " vs. " + ours
	}
	return recorded
}

// Costs returns the result of Money and, if different, the recorded cost:
// "$1.20 (recorded: $1.15)", "$8.00 (recorded: $1.15 vs. $1.20)".
func (s Sum) Costs() string {
	if recorded := s.Recorded(); recorded != "" {
		return s.Money() + " (recorded: " + recorded + ")"
	}
	return s.Money()
}

// cents returns n to the cent; "" if it is zero.
func cents(n NanoUSD) string {
	switch {
	case n == 0:
		return ""
	case n < cent:
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", float64(n)/1e9)
}
