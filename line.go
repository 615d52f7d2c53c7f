package skein

import (
	"math"
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

// A SeqRange is the places after From, up to and with To.
type SeqRange struct{ From, To Seq }

// OnLine returns the ranges of a session, up to its event at last, that lie
// in the context, in order: all but what was rewound. Of events, which are in
// order, only the rewound ones up to there matter, and these are needed all.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func OnLine(events []Event, last Seq) ([]SeqRange, error) {
	var l line
	for _, e := range events {
		if e.Kind == KindRewound && e.Seq <= last {
			to, err := Decode[Rewound](e)
			if err != nil {
				return nil, err
			}
			l.add(e.Seq, to.To)
		}
	}
	return l.spans(last), nil
}

// Unrewound returns the events that lie in the context, without the rewinds
// themselves. events are a session's, in order.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func Unrewound(events []Event) ([]Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	spans, err := OnLine(events, events[len(events)-1].Seq)
	if err != nil {
		return nil, err
	}
	var on []Event
	for _, e := range events {
		if e.Kind != KindRewound && within(spans, e.Seq) {
			on = append(on, e)
		}
	}
	return on, nil
}

// spans returns the places on the line that ends at last, in order.
func (l *line) spans(last Seq) []SeqRange {
	var back []SeqRange
	for last > 0 {
		i := sort.Search(len(l.rewinds), func(i int) bool { return l.rewinds[i].at > last })
		if i == 0 {
			back = append(back, SeqRange{0, last})
			break
		}
		r := l.rewinds[i-1]
		if last > r.at {
			back = append(back, SeqRange{r.at, last})
		}
		last = r.to
	}
	slices.Reverse(back)
	return back
}

// on reports whether seq lies on the line that goes on after the last event.
func (l *line) on(seq Seq) bool {
	if n := len(l.rewinds); n == 0 || seq > l.rewinds[n-1].at {
		return true
	}
	return within(l.spans(math.MaxInt64), seq)
}

// within reports whether seq lies in one of spans, which are in order.
func within(spans []SeqRange, seq Seq) bool {
	i := sort.Search(len(spans), func(i int) bool { return spans[i].To >= seq })
	return i < len(spans) && spans[i].From < seq
}
