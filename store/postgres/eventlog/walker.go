package eventlog

import (
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A Walker finds events of a user's sessions for package walk. It implements
// [walk.NewestLog], [walk.WindowLog], [walk.PastLog], [walk.LiveLog] and
// [ledger.TextLog].
type Walker struct {
	saidQueries
	windowQueries
	liveQueries
}

// New returns the walker that reads the events of user's sessions by q.
func New(q *wire.Conn, user skein.User) *Walker {
	f := queries{q: q, user: user}
	return &Walker{saidQueries{queries: f}, windowQueries{f}, liveQueries{f}}
}

// queries are queries for the events of segments.
type queries struct {
	q    *wire.Conn
	user skein.User
}

// events adds a query to the pipe for the events of segs for which a condition holds;
// its arguments start at $5.
func (w *queries) events(p *wire.Pipe, segs walk.Segments, all *[]skein.Event, cond string, args ...any) {
	w.each(p, segs, columns.Event, cond, args, func(r wire.Row) error {
		if err := w.q.Hold(r); err != nil {
			return err
		}
		e, _, err := columns.ScanEvent(r)
		*all = append(*all, e)
		return err
	})
}

// each is events for some columns; it calls do for each row.
func (w *queries) each(p *wire.Pipe, segs walk.Segments, columns, cond string, args []any, do func(wire.Row) error) {
	for _, seg := range segs {
		p.Query(`SELECT `+columns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND `+cond,
			append([]any{string(w.user), seg.Session, int64(seg.From), int64(seg.To)}, args...), do)
	}
}

// said adds a query to the pipe for the events of segs for which a condition holds;
// its arguments start at $5.
func (w *queries) said(p *wire.Pipe, segs walk.Segments, all *[]walk.Said, cond string, args ...any) {
	w.each(p, segs, saidColumns, cond, args, func(r wire.Row) error {
		if err := w.q.Hold(r); err != nil {
			return err
		}
		x, err := scanSaid(r)
		*all = append(*all, x)
		return err
	})
}

// readable is events, but a damaged event has no payload instead of an error.
func (w *queries) readable(p *wire.Pipe, segs walk.Segments, all *[]skein.Event, cond string) {
	w.each(p, segs, columns.Event, cond, nil, func(r wire.Row) error {
		e, _, err := columns.ScanEvent(r)
		if errors.Is(err, skein.ErrCorrupt) {
			e.Payload, err = nil, nil
		}
		*all = append(*all, e)
		return err
	})
}

// within adds a query to the pipe for each of segs, within r: $1 to $5 are the user, a
// session, the seqs after which and up to which rows count, and the last seq of the
// session that counts; args follow.
func (w *queries) within(p *wire.Pipe, segs walk.Segments, r skein.SeqRange, query string, args []any, do func(wire.Row) error) {
	for _, seg := range segs {
		if from, to := max(seg.From, r.From), min(seg.To, r.To); from < to {
			p.Query(query, append([]any{string(w.user), seg.Session, int64(from), int64(to), int64(seg.To)}, args...), do)
		}
	}
}
