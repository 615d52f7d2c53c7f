package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
)

// Window implements [skein.Store].
//
// It reads the said events back from the end until there are enough for n
// messages, or a compaction covers the rest; the first ones, for messages at
// the beginning have rules of their own; and what says how these are read.
func (s *Store) Window(ctx context.Context, id skein.SessionID, n int) (events []skein.Event, err error) {
	defer skein.Wrapf(&err, "sqlite: window of %s", id)
	if n < 1 {
		for e, err := range s.Events(ctx, id, 0) {
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
		return events, nil
	}
	err = s.read(ctx, func(c *conn) error {
		h, err := s.head(c, id)
		if err != nil {
			return err
		}
		w := window{walk: walk{s: s, conn: c, head: h}, n: n, taken: map[skein.Seq]skein.Event{}, whole: map[string]bool{}}
		if w.segs, err = c.segments(h.n, h.Last); err != nil {
			return err
		}
		events, err = w.events()
		return err
	})
	return events, err
}

// A window is what is being gathered for Window.
type window struct {
	walk
	n      int
	amends []amendment      // in order
	line   []skein.SeqRange // what is not rewound, in order
	covers []skein.Seq      // up to where the compaction covers that is used, by one provider or another
	cut    skein.Seq        // all that matters after this place is taken
	taken  map[skein.Seq]skein.Event
	whole  map[string]bool // message IDs of which all pieces are taken
}

// An amendment is the place of an amended event, and what it is about.
type amendment struct{ seq, amends skein.Seq }

func (w *window) events() ([]skein.Event, error) {
	for _, step := range []func() error{w.readLine, w.readAmendments, w.compactions, w.suffix, w.prefix, w.tools, w.amended} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return w.inOrder(), nil
}

func (w *window) inOrder() []skein.Event {
	return slices.SortedFunc(maps.Values(w.taken), func(a, b skein.Event) int { return cmp.Compare(a.Seq, b.Seq) })
}

// readLine takes the rewound events and works out what they leave.
func (w *window) readLine() (err error) {
	err = w.seqs(`SELECT e.seq, 0 FROM events e INDEXED BY events_rewound WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'rewound'`,
		func(seq, _ skein.Seq) error {
			_, err := w.takeAt(seq)
			return err
		})
	if err != nil {
		return err
	}
	w.line, err = skein.OnLine(w.inOrder(), w.head.Last)
	return err
}

// readAmendments looks which events were amended where.
func (w *window) readAmendments() error {
	return w.seqs(`SELECT e.seq, e.amends FROM events e INDEXED BY events_amended WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'amended' ORDER BY e.seq`,
		func(seq, amends skein.Seq) error {
			w.amends = append(w.amends, amendment{seq, amends})
			return nil
		})
}

// seqs calls f for the rows of two places that query gives for each segment,
// the oldest first.
func (w *window) seqs(query string, f func(a, b skein.Seq) error) error {
	for _, seg := range slices.Backward(w.segs) {
		var all [][2]int64 // f may query too
		err := w.conn.query(query, []any{seg.session, int64(seg.from), int64(seg.to)}, func(row []driver.Value) error {
			var x [2]int64
			err := scan(row, []any{&x[0], &x[1]})
			all = append(all, x)
			return err
		})
		if err != nil {
			return err
		}
		for _, x := range all {
			if err := f(skein.Seq(x[0]), skein.Seq(x[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *window) onLine(seq skein.Seq) bool {
	return slices.ContainsFunc(w.line, func(r skein.SeqRange) bool { return r.From < seq && seq <= r.To })
}

// compactions takes the newest one that every provider can use, and those
// after it.
func (w *window) compactions() error {
	for upto := w.head.Last; ; {
		seq, err := w.compactedBefore(upto)
		if err != nil {
			return err
		}
		if seq == 0 {
			w.covers = append(w.covers, 0)
			return nil
		}
		upto = seq - 1
		e, err := w.takeAt(seq)
		if err != nil {
			return err
		}
		now, err := w.compactionNow(e)
		if err != nil {
			return err
		}
		if now == nil || now.Failed {
			continue
		}
		if w.covers = append(w.covers, now.To); now.Opaque == nil || now.Summary != "" {
			return nil
		}
	}
}

// compactedBefore returns the place of the last compacted event on the line up
// to a place; 0 if there is none.
func (w *window) compactedBefore(upto skein.Seq) (skein.Seq, error) {
	for _, r := range slices.Backward(w.line) {
		for _, seg := range w.segs {
			from, to := max(r.From, seg.from), min(r.To, seg.to, upto)
			if from >= to {
				continue
			}
			var seq int64
			found, err := w.conn.one(`SELECT e.seq FROM events e INDEXED BY events_compacted WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'compacted' ORDER BY e.seq DESC LIMIT 1`,
				[]any{seg.session, int64(from), int64(to)}, &seq)
			if err != nil || found {
				return skein.Seq(seq), err
			}
		}
	}
	return 0, nil
}

// compactionNow returns what the compacted event e says as it stands now; nil
// if it was withdrawn.
func (w *window) compactionNow(e skein.Event) (*skein.Compacted, error) {
	c, err := skein.Decode[skein.Compacted](e)
	if err != nil {
		return nil, err
	}
	gone := false
	for _, m := range w.amends {
		if m.amends != e.Seq || !w.onLine(m.seq) {
			continue
		}
		by, err := w.takeAt(m.seq)
		if err != nil {
			return nil, err
		}
		a, err := skein.Decode[skein.Amended](by)
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
