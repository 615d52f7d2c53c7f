package web

import (
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// A chart has a column for each day, week or month. The page draws it as SVG, 1
// wide and 100 high, stretched to fit; the labels beside it are HTML.
type chart struct {
	Title   string
	Unit    string // what a column is: day, week, month
	Columns []chartColumn
	Most    string // value of the highest column
	Peak    string // label of the highest column
	First   string
	Last    string
	Series  []string // names of a column's pieces, from the bottom
	Total   string
}

// A chartColumn is one step of time.
type chartColumn struct {
	Label  string // the step, and its value
	Pieces []chartPiece

	Step, Sum string   // for the table
	Parts     []string // of each series
}

// A chartPiece is a rectangle of a column.
type chartPiece struct {
	X, Y, W, H float64
	Class      string
}

// A chartStep is a day, or several that are shown as one.
type chartStep struct {
	name, unit string
	sum        price.Sum
}

// The numbers of days from which weeks, then months, are shown.
const (
	manyDays  = 100
	manyWeeks = 750
)

// stepsOf groups days into steps, from the first to the last, including those
// without usage in between. Rows that are not a day are left out.
func stepsOf(days []price.Sum) (steps []chartStep) {
	of := map[string]price.Sum{}
	var first, last time.Time
	for _, d := range days {
		t, err := time.Parse(time.DateOnly, d.Of)
		if err != nil {
			continue
		}
		of[d.Of] = d
		if first.IsZero() || t.Before(first) {
			first = t
		}
		if t.After(last) {
			last = t
		}
	}
	if first.IsZero() {
		return nil
	}
	name, unit := dayName, "day"
	switch n := int(last.Sub(first).Hours() / 24); {
	case n > manyWeeks:
		name, unit = monthName, "month"
	case n > manyDays:
		name, unit = weekName, "week"
	}
	for t := first; !t.After(last); t = t.AddDate(0, 0, 1) {
		if n := name(t); len(steps) == 0 || steps[len(steps)-1].name != n {
			steps = append(steps, chartStep{name: n, unit: unit, sum: price.Sum{Of: n}})
		}
		at := &steps[len(steps)-1]
		at.sum = at.sum.Plus(of[t.Format(time.DateOnly)])
	}
	return steps
}

func dayName(t time.Time) string   { return t.Format("2 Jan 2006") }
func monthName(t time.Time) string { return t.Format("Jan 2006") }
func weekName(t time.Time) string {
	return "week of " + t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format("2 Jan 2006")
}

// A chartMeasure is what a chart shows of a sum.
type chartMeasure struct {
	values func(price.Sum) []int64 // the pieces of a column, from the bottom
	words  func(price.Sum) string  // a column, for people
	part   func(int64) string      // a piece, for people
}

// costMeasure measures sums by their cost in dollars.
func costMeasure() chartMeasure {
	return chartMeasure{
		func(s price.Sum) []int64 { return []int64{int64(s.Cost)} },
		price.Sum.Money,
		func(n int64) string { return price.Sum{Cost: price.NanoUSD(n)}.Money() },
	}
}

// tokenMeasure measures sums by their tokens, of each kind.
func tokenMeasure() chartMeasure {
	return chartMeasure{
		func(s price.Sum) []int64 {
			return []int64{s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Input, s.Usage.Output}
		},
		func(s price.Sum) string { return render.Short(s.Usage.Tokens()) },
		render.Short,
	}
}

// newChart draws what is measured of steps.
func newChart(title string, steps []chartStep, m chartMeasure, series ...string) *chart {
	c := &chart{Title: title, Unit: steps[0].unit, First: steps[0].name, Last: steps[len(steps)-1].name, Series: series}
	var most, all int64
	var total price.Sum
	for _, s := range steps {
		v := sumOf(m.values(s.sum))
		all += v
		total = total.Plus(s.sum)
		if v > most || c.Most == "" {
			most, c.Most, c.Peak = v, m.words(s.sum), s.name
		}
	}
	if all == 0 {
		return nil
	}
	c.Total = m.words(total)
	for i, s := range steps {
		col := chartColumn{Label: strings.TrimSuffix(s.name+": "+m.words(s.sum), ": "), Step: s.name, Sum: m.words(s.sum)}
		top := 100.0
		for k, v := range m.values(s.sum) {
			col.Parts = append(col.Parts, m.part(v))
			if h := 100 * float64(v) / float64(most); h > 0 {
				top -= h
				col.Pieces = append(col.Pieces, chartPiece{float64(i) + .12, top, .76, h, "s" + string(rune('1'+k))})
			}
		}
		c.Columns = append(c.Columns, col)
	}
	return c
}

func sumOf(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// Keys returns the series with the classes of their colors, the topmost first.
func (c *chart) Keys() (keys [][2]string) {
	for i, name := range c.Series {
		keys = append(keys, [2]string{"s" + string(rune('1'+i)), name})
	}
	slices.Reverse(keys)
	return keys
}

// Head returns the unit as the head of a table.
func (c *chart) Head() string { return strings.ToUpper(c.Unit[:1]) + c.Unit[1:] }

// Divided reports whether columns have several pieces.
func (c *chart) Divided() bool { return len(c.Series) > 1 }
