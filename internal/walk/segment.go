package walk

import (
	"slices"

	"github.com/skein-dev/skein"
)

// A Segment is a piece of what a session shows: the events after From, up to and
// including To, of the session that its store knows by the number Session.
type Segment struct {
	Session  int64
	From, To skein.Seq
}

// Segments are the pieces of what a session shows, newest first: its own, then its
// parent's, and so on.
type Segments []Segment

// Base adds the segment before the last of s, as the store has it: the events of that
// session up to upto are those of session base.
func (s Segments) Base(base int64, upto skein.Seq) Segments {
	own := &s[len(s)-1]
	if own.From = min(upto, own.To); own.From == own.To && len(s) > 1 {
		own.Session, own.From = base, 0 // nothing of this one is shown
		return s
	}
	return append(s, Segment{base, 0, own.From})
}

// Of returns the segment that has the event at seq; the first if none has it, and one
// without events if there is none at all, because a session's row is damaged.
func (s Segments) Of(seq skein.Seq) Segment {
	if len(s) == 0 {
		return Segment{}
	}
	i := slices.IndexFunc(s, func(x Segment) bool { return seq > x.From })
	return s[max(i, 0)]
}

// Oldest returns the segments in the order of their events.
func (s Segments) Oldest() Segments {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// Within returns the parts of s after r.From, up to and including r.To, in the order
// of s.
func (s Segments) Within(r skein.SeqRange) (in Segments) {
	for _, x := range s {
		x.From, x.To = max(r.From, x.From), min(r.To, x.To)
		if x.From < x.To {
			in = append(in, x)
		}
	}
	return in
}
