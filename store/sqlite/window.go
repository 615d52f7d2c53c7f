package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Window implements [skein.Store]; see [walk.Window].
func (s *reads) Window(ctx context.Context, id skein.SessionID, n int) (events []skein.Event, err error) {
	defer skein.Wrapf(&err, "sqlite: window of %s", id)
	if n < 1 {
		return walk.All(room.Kept(ctx, s.Events(ctx, id, 0), func(e skein.Event) int { return len(e.Payload) }))
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		x, err := s.extent(c, id)
		if err == nil {
			events, err = walk.Window(newWalker(s.pack, c, room.Of(ctx)), x, n)
		}
		return err
	})
	return events, err
}

// Line implements [walk.WindowLog].
func (w windowQueries) Line(segs walk.Segments) (rewound []skein.Event, amended []walk.Amendment, err error) {
	rewound, err = w.events(segs, `INDEXED BY events_rewound WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'rewound' ORDER BY e.seq`)
	if err != nil {
		return nil, nil, err
	}
	err = w.each(segs, `SELECT e.seq, e.amends, e.role IS NULL FROM events e INDEXED BY events_amends WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'amended' ORDER BY e.seq`,
		func(row []driver.Value) error {
			var seq, amends, empty int64
			err := engine.Scan(row, []any{&seq, &amends, &empty})
			amended = append(amended, walk.Amendment{Seq: skein.Seq(seq), Amends: skein.Seq(amends), Empty: empty != 0})
			return err
		})
	return rewound, amended, err
}

// Compacted implements [walk.WindowLog].
func (w windowQueries) Compacted(segs walk.Segments) (last *skein.Event, err error) {
	err = w.each(segs, selectEvent+`INDEXED BY events_compacted WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'compacted' ORDER BY e.seq DESC LIMIT 1`,
		func(row []driver.Value) error {
			e, err := w.scanEvent(row)
			if err != nil {
				return err
			}
			last = &e
			return engine.ErrStop
		})
	return last, engine.Unstop(err)
}

// Next implements [walk.WindowLog].
func (w windowQueries) Next(segs walk.Segments) (next *walk.Said, err error) {
	err = w.each(segs, selectSaid+`WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'said' ORDER BY e.seq LIMIT 1`,
		func(row []driver.Value) error {
			x, err := w.scanSaid(row)
			if err != nil {
				return err
			}
			next = &x
			return engine.ErrStop
		})
	return next, engine.Unstop(err)
}

// Tools implements [walk.WindowLog].
func (w windowQueries) Tools(segs walk.Segments) ([]skein.Event, error) {
	return w.events(segs, `WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'tool'`)
}

// At implements [walk.WindowLog].
func (w windowQueries) At(segs walk.Segments, seqs []skein.Seq) (events []skein.Event, err error) {
	for _, seq := range seqs {
		err := w.conn.Query(selectEvent+`WHERE e.session = ? AND e.seq = ?`, []any{segs.Of(seq).Session, int64(seq)}, func(row []driver.Value) error {
			e, err := w.scanEvent(row)
			events = append(events, e)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

// events returns the events of segs that satisfy a condition, whose arguments
// are a session and the range of seqs.
func (w queries) events(segs walk.Segments, cond string) (events []skein.Event, err error) {
	err = w.each(segs, selectEvent+cond, func(row []driver.Value) error {
		e, err := w.scanEvent(row)
		events = append(events, e)
		return err
	})
	return events, err
}

// each calls do for the rows that query returns for each of segs.
func (w queries) each(segs walk.Segments, query string, do func(row []driver.Value) error) error {
	for _, seg := range segs {
		if err := w.conn.Query(query, []any{seg.Session, int64(seg.From), int64(seg.To)}, do); err != nil {
			return err
		}
	}
	return nil
}
