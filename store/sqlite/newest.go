package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Newest implements [skein.Store]; see [walk.Newest].
func (s *reads) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (entries []skein.Entry, err error) {
	defer skein.Wrapf(&err, "sqlite: newest %d messages of %s", n, id)
	err = s.read(ctx, func(c *engine.Conn) error {
		x, err := s.extent(c, id)
		if err == nil && n > 0 {
			entries, err = walk.Newest(newWalker(s.pack, c, room.Of(ctx)), x, n, before)
		}
		return err
	})
	return entries, err
}

// extent returns where to find the events of a session that the view may see.
func (s *reads) extent(c *engine.Conn, id skein.SessionID) (x walk.Extent, err error) {
	h, err := s.head(c, id)
	if err == nil {
		err = waitIfLarge(c, &h)
	}
	if err != nil {
		return x, err
	}
	segs, err := segments(c, h.n, h.Last)
	return walk.Extent{Segments: segs, Last: h.Last, Said: h.Said}, err
}

// A walker finds events for package walk. It implements [walk.NewestLog],
// [walk.WindowLog], [walk.PastLog] and [walk.LiveLog].
type walker struct {
	saidQueries
	windowQueries
	liveQueries
}

// newWalker returns the walker that reads by conn. It reserves memory for what is
// found from share; nil for what is released at once.
func newWalker(p *pack.Packer, c *engine.Conn, share *room.Share) walker {
	q := queries{p, c, share}
	return walker{saidQueries{q}, windowQueries{q}, liveQueries{q}}
}

// queries are queries for the events of segments; the other types are queries by
// their subject.
type (
	queries struct {
		pack  *pack.Packer
		conn  *engine.Conn
		share *room.Share
	}
	saidQueries   struct{ queries }
	windowQueries struct{ queries }
	liveQueries   struct{ queries }
)

const (
	saidColumns = `SELECT ` + eventColumns + `, e.message `
	selectSaid  = saidColumns + `FROM events e `
)

// scanSaid reads a row of selectSaid, and reserves memory for it.
func (w queries) scanSaid(row []driver.Value) (walk.Said, error) {
	if err := hold(w.share, row); err != nil {
		return walk.Said{}, err
	}
	return rowSaid(w.pack, row)
}

// scanEvent reads a row of selectEvent, and reserves memory for it.
func (w queries) scanEvent(row []driver.Value) (skein.Event, error) {
	if err := hold(w.share, row); err != nil {
		return skein.Event{}, err
	}
	e, _, err := rowEvent(w.pack, row)
	return e, err
}

// said reads a row of selectSaid.
func rowSaid(k *pack.Packer, row []driver.Value) (x walk.Said, err error) {
	last := len(row) - 1
	x.Message, _ = row[last].(string) // NULL is ""
	var p place
	x.Event, p, err = rowEvent(k, row[:last])
	x.Turn, x.Prev, x.Piece = p.turn, p.prev, p.piece
	return x, err
}

// Back implements [walk.SaidLog].
func (w saidQueries) Back(seg walk.Segment, at skein.Seq, n int, do func(walk.Said) bool) error {
	err := w.conn.Query(`WITH RECURSIVE back (seq) AS (
			SELECT ?1 UNION ALL
			SELECT e.prev FROM back b JOIN events e ON e.session = ?2 AND e.seq = b.seq WHERE e.prev > ?3 LIMIT ?4)
		`+saidColumns+`FROM back b CROSS JOIN events e ON e.session = ?2 AND e.seq = b.seq`,
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

// said returns the events of segs that satisfy a condition, whose arguments are
// a session, the range of seqs, and args.
func (w queries) said(segs walk.Segments, cond string, args ...any) (all []walk.Said, err error) {
	for _, seg := range segs {
		err := w.conn.Query(selectSaid+cond, append([]any{seg.Session, int64(seg.From), int64(seg.To)}, args...), func(row []driver.Value) error {
			x, err := w.scanSaid(row)
			all = append(all, x)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Settings implements [walk.PastLog].
func (w saidQueries) Settings(segs walk.Segments) ([]skein.Event, error) {
	return w.readable(segs, `INDEXED BY events_settings WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('created', 'changed') ORDER BY e.seq`)
}
