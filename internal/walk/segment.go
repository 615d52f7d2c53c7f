package walk

import (
	"slices"

	"github.com/skein-dev/skein"
)

// A Segment is a piece of what a session shows: the events after From, up to
// and with To, of the session that its store knows by the number Session.
type Segment struct {
	Session  int64
	From, To skein.Seq
}

// Segments are the pieces of what a session shows: its own first, then those
// of its parent, and so on; so the newest first.
type Segments []Segment

// Base adds what lies behind the last of s, as the store has it written down:
// that the events of that session up to upto are those of session base.
func (s Segments) Base(base int64, upto skein.Seq) Segments {
	own := &s[len(s)-1]
	if own.From = min(upto, own.To); own.From == own.To && len(s) > 1 {
		own.Session, own.From = base, 0 // of this one nothing is shown
		return s
	}
	return append(s, Segment{base, 0, own.From})
}

// Of returns the piece that has the event at seq; the first if none has.
func (s Segments) Of(seq skein.Seq) Segment {
	i := slices.IndexFunc(s, func(x Segment) bool { return seq > x.From })
	return s[max(i, 0)]
}

// Oldest returns the pieces in the order of their events.
func (s Segments) Oldest() Segments {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// Within returns what of s lies in the places after r.From, up to and with r.To,
// in the order of s.
func (s Segments) Within(r skein.SeqRange) (in Segments) {
	for _, x := range s {
		x.From, x.To = max(r.From, x.From), min(r.To, x.To)
		if x.From < x.To {
			in = append(in, x)
		}
	}
	return in
}
