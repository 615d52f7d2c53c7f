package skein

import (
	"slices"
	"sort"
)

// A line tells which events lie in the context after the last one: all but
// what was rewound. It is worked out from the rewound events alone.
type line struct {
	rewinds []rewind // in order of at
}

type rewind struct{ at, to Seq }

// add takes in that the event at seq goes back to the seq to. One that names
// no earlier event goes nowhere.
func (l *line) add(at, to Seq) {
	l.rewinds = append(l.rewinds, rewind{at, max(0, min(to, at-1))})
}

// A span is the places after from, up to and with to.
type span struct{ from, to Seq }

// spans returns the places on the line that ends at last, in order.
func (l *line) spans(last Seq) []span {
	var back []span
	for last > 0 {
		i := sort.Search(len(l.rewinds), func(i int) bool { return l.rewinds[i].at > last })
		if i == 0 {
			back = append(back, span{0, last})
			break
		}
		r := l.rewinds[i-1]
		if last > r.at {
			back = append(back, span{r.at, last})
		}
		last = r.to
	}
	slices.Reverse(back)
	return back
}

// within reports whether seq lies in one of spans, which are in order.
func within(spans []span, seq Seq) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].to >= seq })
	return i < len(spans) && spans[i].from < seq
}
