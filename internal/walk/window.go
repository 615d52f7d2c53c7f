package walk

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
)

// A WindowLog is what [Window] needs from a store. "In order" means in the order of
// segs, and within each segment in the order of its events.
type WindowLog interface {
	SaidLog

	// Line returns the rewound events of segs, and their amendments, in order.
	Line(segs Segments) ([]skein.Event, []Amendment, error)

	// Compacted returns the last compacted event of the first of segs, which are
	// newest first, that has one; nil if none has.
	Compacted(segs Segments) (*skein.Event, error)

	// Next returns the first said event of segs, which are oldest first; nil
	// if they have none.
	Next(segs Segments) (*Said, error)

	// Tools returns the tool events of segs, in any order.
	Tools(segs Segments) ([]skein.Event, error)

	// At returns the events at seqs in segs, in any order.
	At(segs Segments, seqs []skein.Seq) ([]skein.Event, error)
}

// All returns everything that events yields, as a window of the whole session. The
// error is the one that events yields.
func All(events iter.Seq2[skein.Event, error]) (all []skein.Event, err error) {
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// Window returns events of a session that are enough for n messages, as
// [skein.Store.Window] does. Errors are the log's, or wrap [skein.ErrInvalid]
// (a payload that does not fit its kind) or [skein.ErrCorrupt].
//
// It reads the said events backward from the end until there are enough, or a
// compaction covers the rest; the first ones, because messages at the beginning have
// rules of their own; and the events that change how these are read.
func Window(l WindowLog, x Extent, n int) ([]skein.Event, error) {
	n = int(min(int64(n), int64(x.Last))) // there are no more messages than events
	w := windowWalk{log: l, Extent: x, n: n, taken: map[skein.Seq]skein.Event{}, whole: map[string]bool{}}
	for _, step := range []func() error{w.readLine, w.compactions, w.suffix, w.prefix, w.tools, w.amended} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return w.inOrder(), nil
}

// A windowWalk collects events for Window.
type windowWalk struct {
	log WindowLog
	Extent
	n      int
	amends []Amendment      // in order
	line   []skein.SeqRange // what is not rewound, in order
	covers []skein.Seq      // the last seqs that the compactions cover that one provider or another uses
	keeps  []skein.Seq      // messages that these keep
	cut    skein.Seq        // everything that matters after this seq is taken
	taken  map[skein.Seq]skein.Event
	whole  map[string]bool // IDs of messages all of whose pieces are taken
}

func (w *windowWalk) inOrder() []skein.Event {
	return slices.SortedFunc(maps.Values(w.taken), func(a, b skein.Event) int { return cmp.Compare(a.Seq, b.Seq) })
}

func (w *windowWalk) add(events ...skein.Event) {
	for _, e := range events {
		w.taken[e.Seq] = e
	}
}

// readLine takes the rewound events, computes what is left after them, and reads the
// amendments.
func (w *windowWalk) readLine() error {
	rewound, amends, err := w.log.Line(w.Segments.Oldest())
	if err != nil {
		return err
	}
	w.add(rewound...)
	w.amends = amends
	w.line, err = skein.OnLine(rewound, w.Last)
	return err
}

func (w *windowWalk) onLine(seq skein.Seq) bool {
	return slices.ContainsFunc(w.line, func(r skein.SeqRange) bool { return r.From < seq && seq <= r.To })
}

// compactions takes the newest compaction that every provider can use, and those
// after it.
func (w *windowWalk) compactions() error {
	for upto := w.Last; ; {
		e, err := w.compactedBefore(upto)
		if err != nil {
			return err
		}
		if e == nil {
			w.covers = append(w.covers, 0)
			return nil
		}
		upto = e.Seq - 1
		w.add(*e)
		now, err := w.compactionNow(*e)
		if err != nil {
			return err
		}
		if now == nil || now.Failed {
			continue
		}
		w.keeps = append(w.keeps, now.Keep...)
		if w.covers = append(w.covers, now.To); now.Opaque == nil || now.Summary != "" {
			return nil
		}
	}
}

// compactedBefore returns the last compacted event on the line up to a seq; nil if
// there is none.
func (w *windowWalk) compactedBefore(upto skein.Seq) (*skein.Event, error) {
	var segs Segments
	for _, r := range slices.Backward(w.line) {
		segs = append(segs, w.Segments.Within(skein.SeqRange{From: r.From, To: min(r.To, upto)})...)
	}
	return w.log.Compacted(segs)
}

// compactionNow returns the payload of the compacted event e, as it was amended; nil
// if it was withdrawn.
func (w *windowWalk) compactionNow(e skein.Event) (*skein.Compacted, error) {
	c, err := skein.Decode[skein.Compacted](e)
	if err != nil {
		return nil, err
	}
	gone := false
	for _, m := range w.amends {
		if m.Amends != e.Seq || !w.onLine(m.Seq) {
			continue
		}
		if err := w.takeAt(m.Seq); err != nil {
			return nil, err
		}
		a, err := skein.Decode[skein.Amended](w.taken[m.Seq])
		if err != nil {
			return nil, err
		}
		if gone = a.Withdrawn; !gone && len(a.Payload) > 0 {
			if c, err = skein.Decode[skein.Compacted](skein.Event{Seq: e.Seq, Kind: e.Kind, Payload: a.Payload}); err != nil {
				return nil, err
			}
		}
	}
	if gone {
		return nil, nil
	}
	return &c, nil
}
