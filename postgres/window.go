package postgres

import (
	"cmp"
	"context"
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
	defer skein.Wrapf(&err, "postgres: window of %s", id)
	if n < 1 {
		for e, err := range s.Events(ctx, id, 0) {
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
		return events, nil
	}
	err = s.read(ctx, func(q *conn) error {
		w := window{n: n, taken: map[skein.Seq]skein.Event{}, whole: map[string]bool{}}
		if w.walk, err = q.walk(id); err != nil {
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
	for _, step := range []func() error{w.readLine, w.compactions, w.suffix, w.prefix, w.tools, w.amended} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return w.inOrder(), nil
}

func (w *window) inOrder() []skein.Event {
	return slices.SortedFunc(maps.Values(w.taken), func(a, b skein.Event) int { return cmp.Compare(a.Seq, b.Seq) })
}

// readLine takes the rewound events, works out what they leave, and looks which
// events were amended where.
func (w *window) readLine() (err error) {
	var rewound []spoken
	p := w.pipe()
	w.collect(p, &rewound, `e.kind = 'rewound'`)
	for _, seg := range slices.Backward(w.segs) {
		p.query(`SELECT e.seq, coalesce(e.amends, 0) FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = 'amended' ORDER BY e.seq`,
			[]any{string(w.head.User), seg.session, int64(seg.from), int64(seg.to)}, func(r row) error {
				var m amendment
				err := r.Scan(&m.seq, &m.amends)
				w.amends = append(w.amends, m)
				return err
			})
	}
	if err := p.run(); err != nil {
		return err
	}
	for _, x := range rewound {
		w.taken[x.e.Seq] = x.e
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
	for upto := w.head.Last; ; {
		e, err := w.compactedBefore(upto)
		if err != nil {
			return err
		}
		if e == nil {
			w.covers = append(w.covers, 0)
			return nil
		}
		upto = e.Seq - 1
		w.taken[e.Seq] = *e
		now, err := w.compactionNow(*e)
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

// compactedBefore returns the last compacted event on the line up to a place;
// nil if there is none.
func (w *window) compactedBefore(upto skein.Seq) (last *skein.Event, err error) {
	for _, r := range slices.Backward(w.line) {
		for _, seg := range w.segs {
			from, to := max(r.From, seg.from), min(r.To, seg.to, upto)
			if from >= to {
				continue
			}
			err := w.query(`SELECT `+eventColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND e.kind = 'compacted' ORDER BY e.seq DESC LIMIT 1`,
				[]any{string(w.head.User), seg.session, int64(from), int64(to)}, func(r row) error {
					e, _, err := scanEvent(r)
					last = &e
					return err
				})
			if err != nil || last != nil {
				return last, err
			}
		}
	}
	return nil, nil
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
