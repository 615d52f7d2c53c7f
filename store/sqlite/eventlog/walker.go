package eventlog

import (
	"database/sql/driver"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// A Walker finds events for package walk. It implements [walk.NewestLog],
// [walk.WindowLog], [walk.PastLog] and [walk.LiveLog].
type Walker struct {
	saidQueries
	windowQueries
	liveQueries
}

// New returns the walker that reads by conn. It reserves memory for what is
// found from share; nil for what is released at once.
func New(p *pack.Packer, c *engine.Conn, share *room.Share) Walker {
	q := queries{p, c, share}
	return Walker{saidQueries{q}, windowQueries{q}, liveQueries{q}}
}

// queries are queries for the events of segments; the types that embed it are queries
// by their subject.
type queries struct {
	pack  *pack.Packer
	conn  *engine.Conn
	share *room.Share
}

// scanSaid reads a row of selectSaid, and reserves memory for it.
func (w queries) scanSaid(row []driver.Value) (walk.Said, error) {
	if err := columns.Hold(w.share, row); err != nil {
		return walk.Said{}, err
	}
	return ScanSaid(w.pack, row)
}

// scanEvent reads a row of selectEvent, and reserves memory for it.
func (w queries) scanEvent(row []driver.Value) (skein.Event, error) {
	if err := columns.Hold(w.share, row); err != nil {
		return skein.Event{}, err
	}
	e, _, err := columns.ScanEvent(w.pack, row)
	return e, err
}

// ScanSaid reads a row of [SaidColumns]. The error is that of [columns.ScanEvent].
func ScanSaid(k *pack.Packer, row []driver.Value) (x walk.Said, err error) {
	last := len(row) - 1
	x.Message, _ = row[last].(string) // NULL is ""
	var p columns.Place
	x.Event, p, err = columns.ScanEvent(k, row[:last])
	x.Turn, x.Prev, x.Piece = p.Turn, p.Prev, p.Piece
	return x, err
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

// events returns the events of segs that satisfy a condition, whose arguments
// are a session and the range of seqs.
func (w queries) events(segs walk.Segments, cond string) (events []skein.Event, err error) {
	err = w.each(segs, columns.SelectEvent+cond, func(row []driver.Value) error {
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

// within calls do for the rows that query returns for each of segs, limited to
// r. The arguments of query are a session, the range of seqs, the last seq of
// the session that counts, and args.
func (w queries) within(segs walk.Segments, r skein.SeqRange, query string, do func(row []driver.Value) error, args ...any) error {
	for _, seg := range segs {
		from, to := max(seg.From, r.From), min(seg.To, r.To)
		if from >= to {
			continue
		}
		if err := w.conn.Query(query, append([]any{seg.Session, int64(from), int64(to), int64(seg.To)}, args...), do); err != nil {
			return err
		}
	}
	return nil
}

// readable is events, except that a damaged event has no payload.
func (w queries) readable(segs walk.Segments, cond string) (events []skein.Event, err error) {
	err = w.each(segs, columns.SelectEvent+cond, func(row []driver.Value) error {
		e, _, err := columns.ScanEvent(w.pack, row)
		if errors.Is(err, skein.ErrCorrupt) {
			e.Payload, err = nil, nil
		}
		events = append(events, e)
		return err
	})
	return events, err
}

// SaidColumns begin a query whose rows [ScanSaid] reads, of events e.
const (
	SaidColumns = `SELECT ` + columns.EventColumns + `, e.message `
	selectSaid  = SaidColumns + `FROM events e `
)

// A page is what is read at once. Between two pages the caller runs, and no
// connection or transaction is held.
const (
	PageRows  = 256
	PageBytes = 1 << 20
)
