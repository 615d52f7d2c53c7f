package eventlog

import (
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// saidQueries are queries for what was said.
type saidQueries struct{ queries }

// Back implements [walk.SaidLog].
func (w saidQueries) Back(seg walk.Segment, at skein.Seq, n int, do func(walk.Said) bool) error {
	err := w.conn.Query(`WITH RECURSIVE back (seq) AS (
			SELECT ?1 UNION ALL
			SELECT e.prev FROM back b JOIN events e ON e.session = ?2 AND e.seq = b.seq WHERE e.prev > ?3 LIMIT ?4)
		`+SaidColumns+`FROM back b CROSS JOIN events e ON e.session = ?2 AND e.seq = b.seq`,
		[]any{int64(at), seg.Session, int64(seg.From), n}, func(row []driver.Value) error {
			x, err := w.scanSaid(row)
			if err == nil && !do(x) {
				err = engine.ErrStop
			}
			return err
		})
	return engine.Unstop(err)
}

// Place implements [walk.SaidLog].
func (w saidQueries) Place(seg walk.Segment, seq skein.Seq) (skein.Kind, skein.Seq, error) {
	var kind string
	var prev int64
	_, err := w.conn.One(`SELECT kind, prev FROM events WHERE session = ? AND seq = ?`, []any{seg.Session, int64(seq)}, &kind, &prev)
	return skein.Kind(kind), skein.Seq(prev), err
}

// Pieces implements [walk.SaidLog].
func (w saidQueries) Pieces(segs walk.Segments, messages []string) (all []walk.Said, err error) {
	for _, m := range messages {
		some, err := w.said(segs, `INDEXED BY events_by_message WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.message = ?`, m)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// Marks implements [walk.NewestLog].
func (w saidQueries) Marks(segs walk.Segments) ([]walk.Said, error) {
	return w.said(segs, `INDEXED BY events_marks WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('rewound', 'compacted', 'amended')`)
}

// Settings implements [walk.PastLog].
func (w saidQueries) Settings(segs walk.Segments) ([]skein.Event, error) {
	return w.readable(segs, `INDEXED BY events_settings WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('created', 'changed') ORDER BY e.seq`)
}
