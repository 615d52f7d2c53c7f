package walk

import (
	"slices"

	"github.com/skein-dev/skein"
)

// prefix takes the said events at the beginning: the system messages before all
// others stay in the context, whatever is left out after them; and whether anything
// was said before the suffix decides what happens to a system message there.
func (w *windowWalk) prefix() error {
	if err := w.kept(); err != nil {
		return err
	}
	if slices.Max(w.covers) > 0 {
		if err := w.leading(slices.Max(w.covers)); err != nil {
			return err
		}
	}
	for _, covered := range w.covers {
		if err := w.first(covered); err != nil {
			return err
		}
	}
	return nil
}

// kept takes the messages that the compactions keep.
func (w *windowWalk) kept() error {
	keep := slices.DeleteFunc(slices.Clone(w.keeps), func(seq skein.Seq) bool { return !w.onLine(seq) })
	if len(keep) == 0 {
		return nil
	}
	found, err := w.log.At(w.Segments, keep)
	if err != nil {
		return err
	}
	for _, e := range found {
		if e.Kind != skein.KindSaid {
			continue
		}
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			return err
		}
		x := &Said{Event: e}
		if m.ID != "" { // the store has it in a form of its own
			if x, err = w.log.Next(w.Segments.Within(skein.SeqRange{From: e.Seq - 1, To: e.Seq})); err != nil {
				return err
			}
		}
		if err := w.take(*x); err != nil {
			return err
		}
	}
	return nil
}

// leading takes the said events that a session begins with, up to a seq, while they
// are system messages, and the first that is not.
func (w *windowWalk) leading(upto skein.Seq) error {
	for after := skein.Seq(0); ; {
		x, err := w.log.Next(w.after(after))
		if err != nil || x == nil || x.Seq > upto {
			return err
		}
		if err := w.take(*x); err != nil {
			return err
		}
		m, err := skein.Decode[skein.Message](x.Event)
		if err != nil || m.Role != skein.RoleSystem {
			return err
		}
		after = x.Seq
	}
}

// first takes the said events after a seq until one of them is a message, in any
// provider's context, that is not a system message.
func (w *windowWalk) first(after skein.Seq) error {
	for covered := after; after < w.cut; {
		x, err := w.log.Next(w.after(after))
		if err != nil || x == nil {
			return err
		}
		if err := w.take(*x); err != nil {
			return err
		}
		entries, err := w.entriesAfter(covered)
		if err != nil {
			return err
		}
		for i := range entries {
			if e := &entries[i]; e.Seq <= x.Seq && weight(&e.Message) > 0 {
				return nil
			}
		}
		after = x.Seq
	}
	return nil
}

// tools takes the tool events after the cut: they have the outcome of calls.
func (w *windowWalk) tools() error {
	segs := w.after(w.cut)
	if len(segs) == 0 {
		return nil
	}
	found, err := w.log.Tools(segs)
	w.add(found...)
	return err
}

// after returns the segments of the line after a seq, the oldest first.
func (w *windowWalk) after(seq skein.Seq) (segs Segments) {
	for _, r := range w.line {
		for _, x := range slices.Backward(w.Segments.Within(skein.SeqRange{From: max(r.From, seq), To: r.To})) {
			segs = append(segs, x)
		}
	}
	return segs
}
