package reconcile

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// A Divergence says how a session and its source went on after their common events.
type Divergence struct {
	Last   skein.Seq // the last event that the source has, before those that only the session has
	WentOn bool      // the session went on with the conversation, and the source does not have that
	Mixed  bool      // and the source already went on after some of it
}

// ForkAt returns where what is new in the source begins as a fork, so that neither
// branch of the conversation ends up in the middle of the other; 0 if it continues in
// the session.
func (d Divergence) ForkAt() skein.Seq {
	if !d.WentOn || d.Mixed {
		return 0
	}
	return d.Last
}

// A Bounds is what is known about a session besides its events.
type Bounds struct {
	Base     skein.Seq // the events up to here are its parent's
	Last     skein.Seq // its last event
	Written  skein.Seq // the source was written from its events up to here; 0 if it was not
	Recorder string    // begins the client IDs of events that are in the source although it did not make them; "" for none
	Read     skein.Seq // damaged events up to here came from the source, if made is not all that it makes
}

// Diverge compares the events of a session, after its base, with those that the
// records of its source made. events may be ranged over twice.
//
// Errors are those of events, and of rewinds that cannot be read.
func Diverge(events iter.Seq2[skein.Event, error], made Made, b Bounds) (d Divergence, err error) {
	written := max(b.Base, b.Written)
	d.Last = written
	missing := -1       // how many events that the records made cannot be seen, if some are damaged
	var own []skein.Seq // steps of the conversation that only the session has
	var theirs []skein.Seq
	var rewinds []skein.Event
	spoken := map[skein.Seq]bool{}  // of own: more than a request or a tool
	dropped := map[skein.Seq]bool{} // withdrawn by the source
	var covered skein.Seq           // by a compaction of the source
	for e, err := range events {
		if err != nil {
			return d, err
		}
		standsIn := e.IsPlaceholder()
		if standsIn && missing < 0 {
			if missing, err = made.missing(events); err != nil {
				return d, err
			}
		}
		if standsIn {
			missing--
		}
		if e.Kind == skein.KindRewound {
			rewinds = append(rewinds, e)
		}
		switch {
		case made.Has(e), b.Recorder != "" && strings.HasPrefix(string(e.ClientID), b.Recorder), standsIn && (missing >= 0 || e.Seq <= b.Read):
			d.Last = max(d.Last, e.Seq)
			if Talks(e.Kind) && e.Kind != skein.KindRewound {
				theirs = append(theirs, e.Seq)
			}
			switch e.Kind {
			case skein.KindAmended:
				if a, err := skein.Decode[skein.Amended](e); err == nil {
					dropped[a.Seq] = dropped[a.Seq] || a.Withdrawn
				}
			case skein.KindCompacted:
				if c, err := skein.Decode[skein.Compacted](e); err == nil {
					covered = max(covered, c.To)
				}
			}
		case Talks(e.Kind) && e.Seq > written:
			own = append(own, e.Seq)
			spoken[e.Seq] = e.Kind != skein.KindTool && e.Kind != skein.KindStep
		}
	}
	own = slices.DeleteFunc(own, func(at skein.Seq) bool { return dropped[at] || at <= covered })
	d.WentOn = slices.ContainsFunc(own, func(at skein.Seq) bool { return spoken[at] })
	if !d.WentOn || own[0] >= d.Last {
		return d, nil
	}
	spans, err := skein.OnLine(rewinds, b.Last)
	if err != nil {
		return d, err
	}
	d.Mixed = slices.ContainsFunc(theirs, func(at skein.Seq) bool { return at > own[0] && OnLine(spans, at) })
	d.Last = own[0] - 1 // what the source said since is not a step of the conversation
	return d, nil
}

// missing returns how many of the events in m are not among events.
func (m Made) missing(events iter.Seq2[skein.Event, error]) (int, error) {
	left := maps.Clone(m)
	delete(left, CreatedID)
	delete(left, RewoundID)
	for e, err := range events {
		if err != nil {
			return 0, err
		}
		delete(left, WithoutMark(e.ClientID))
	}
	return len(left), nil
}

// Talks reports whether events of this kind are steps of the conversation, rather
// than about it.
func Talks(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

// OnLine reports whether one of the spans contains seq.
func OnLine(spans []skein.SeqRange, seq skein.Seq) bool {
	return slices.ContainsFunc(spans, func(s skein.SeqRange) bool { return s.From < seq && seq <= s.To })
}
