package postgres

import (
	"slices"

	"github.com/skein-dev/skein"
)

// prefix takes the said events at the beginning: the system messages that
// stand before all others stay in the context, whatever is left out after
// them; and that something was said before the suffix changes what becomes of
// a system message there.
func (w *window) prefix() error {
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

// leading takes the said events that a session begins with, up to a place,
// while they are a system's, and the first that is not.
func (w *window) leading(upto skein.Seq) error {
	for after := skein.Seq(0); ; {
		x, err := w.nextSaid(after)
		if err != nil || x == nil || x.e.Seq > upto {
			return err
		}
		if err := w.take([]spoken{*x}); err != nil {
			return err
		}
		m, err := skein.Decode[skein.Message](x.e)
		if err != nil || m.Role != skein.RoleSystem {
			return err
		}
		after = x.e.Seq
	}
}

// first takes the said events after a place until one of them is a message, in
// any provider's context, that is no system's.
func (w *window) first(after skein.Seq) error {
	for covered := after; after < w.cut; {
		x, err := w.nextSaid(after)
		if err != nil || x == nil {
			return err
		}
		if err := w.take([]spoken{*x}); err != nil {
			return err
		}
		entries, err := w.entriesAfter(covered)
		if err != nil {
			return err
		}
		for i := range entries {
			if e := &entries[i]; e.Seq <= x.e.Seq && weight(&e.Message) > 0 {
				return nil
			}
		}
		after = x.e.Seq
	}
	return nil
}

// nextSaid returns the first said event on the line after a place; nil if
// there is none.
func (w *window) nextSaid(after skein.Seq) (next *spoken, err error) {
	err = w.ranges(after, w.head.Last, func(seg segment, from, to skein.Seq) error {
		err := w.query(`SELECT `+spokenColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = 'said' ORDER BY e.seq LIMIT 1`,
			[]any{string(w.head.User), seg.session, int64(from), int64(to)}, func(r row) error {
				x, err := scanSpoken(r)
				next = &x
				return err
			})
		if err == nil && next != nil {
			err = errStop
		}
		return err
	})
	return next, unstop(err)
}

// tools takes the tool events after the cut: they say what became of calls.
func (w *window) tools() error {
	p, some := w.pipe(), false
	err := w.ranges(w.cut, w.head.Last, func(seg segment, from, to skein.Seq) error {
		some = true
		p.query(`SELECT `+eventColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = 'tool'`,
			[]any{string(w.head.User), seg.session, int64(from), int64(to)}, func(r row) error {
				e, _, err := scanEvent(r)
				w.taken[e.Seq] = e
				return err
			})
		return nil
	})
	if err != nil || !some {
		return err
	}
	return p.run()
}

// ranges calls f for the ranges of places between two that are on the line, in
// order, and where their events are.
func (w *window) ranges(after, upto skein.Seq, f func(seg segment, from, to skein.Seq) error) error {
	for _, r := range w.line {
		for _, seg := range slices.Backward(w.segs) {
			from, to := max(r.From, seg.from, after), min(r.To, seg.to, upto)
			if from >= to {
				continue
			}
			if err := f(seg, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}
