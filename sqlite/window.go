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
	marks  []mark
	line   []skein.SeqRange // what is not rewound, in order
	covers []skein.Seq      // up to where the compaction covers that is used, by one provider or another
	cut    skein.Seq        // all that matters after this place is taken
	taken  map[skein.Seq]skein.Event
	whole  map[string]bool // message IDs of which all pieces are taken
}

// A mark is a rewound, compacted or amended event.
type mark struct {
	seq, amends skein.Seq
	kind        skein.Kind
}

func (w *window) events() ([]skein.Event, error) {
	for _, step := range []func() error{w.readMarks, w.readLine, w.compactions, w.suffix, w.prefix, w.tools, w.amended} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return w.inOrder(), nil
}

func (w *window) inOrder() []skein.Event {
	return slices.SortedFunc(maps.Values(w.taken), func(a, b skein.Event) int { return cmp.Compare(a.Seq, b.Seq) })
}

// readMarks looks which marks there are, without what they say.
func (w *window) readMarks() error {
	for _, seg := range slices.Backward(w.segs) {
		err := w.conn.query(`SELECT e.seq, e.kind, coalesce(e.amends, 0) FROM events e INDEXED BY events_marks
			WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('rewound', 'compacted', 'amended') ORDER BY e.seq`,
			[]any{seg.session, int64(seg.from), int64(seg.to)}, func(row []driver.Value) error {
				var seq, amends int64
				var kind string
				err := scan(row, []any{&seq, &kind, &amends})
				w.marks = append(w.marks, mark{skein.Seq(seq), skein.Seq(amends), skein.Kind(kind)})
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// readLine takes the rewound events and works out what they leave.
func (w *window) readLine() (err error) {
	for _, m := range w.marks {
		if m.kind == skein.KindRewound {
			if _, err := w.takeAt(m.seq); err != nil {
				return err
			}
		}
	}
	w.line, err = skein.OnLine(w.inOrder(), w.head.Last)
	return err
}

func (w *window) onLine(seq skein.Seq) bool {
	return slices.ContainsFunc(w.line, func(r skein.SeqRange) bool { return r.From < seq && seq <= r.To })
}

// compactions takes the newest one that every provider can use, and those
// after it.
func (w *window) compactions() error {
	for _, m := range slices.Backward(w.marks) {
		if m.kind != skein.KindCompacted || !w.onLine(m.seq) {
			continue
		}
		e, err := w.takeAt(m.seq)
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
	w.covers = append(w.covers, 0)
	return nil
}

// compactionNow returns what the compacted event e says as it stands now; nil
// if it was withdrawn.
func (w *window) compactionNow(e skein.Event) (*skein.Compacted, error) {
	c, err := skein.Decode[skein.Compacted](e)
	if err != nil {
		return nil, err
	}
	gone := false
	for _, m := range w.marks {
		if m.kind != skein.KindAmended || m.amends != e.Seq || !w.onLine(m.seq) {
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
