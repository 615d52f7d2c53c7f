package eventlog

import (
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// windowQueries are queries for the events of a window.
type windowQueries struct{ queries }

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
	err = w.each(segs, columns.SelectEvent+`INDEXED BY events_compacted WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'compacted' ORDER BY e.seq DESC LIMIT 1`,
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
		err := w.conn.Query(columns.SelectEvent+`WHERE e.session = ? AND e.seq = ?`, []any{segs.Of(seq).Session, int64(seq)}, func(row []driver.Value) error {
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
