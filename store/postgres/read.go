package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/eventlog"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/stream"
)

// largeFrom is the size, in bytes, from which a session counts as large: readers that
// share a [room.Room] read only a few such at once.
const largeFrom = 8 << 20

// large calls [room.Turn] if the session may be large. The error is that of
// [room.Turn].
func (q *conn) large(h *head) error {
	if q.Share == nil || h.bytes < largeFrom && h.Parent == nil { // how much a fork shows of its parent is not known
		return nil
	}
	return room.Turn(q.Ctx)
}

// Session implements [skein.Store].
func (s reads) Session(ctx context.Context, id skein.SessionID) (x skein.Session, err error) {
	defer skein.Wrapf(&err, "postgres: session %s", id)
	h, err := s.headOf(ctx, id)
	return h.Session, err
}

// headOf returns a session that the view may see, in one round trip unless its row
// was altered.
func (s *view) headOf(ctx context.Context, id skein.SessionID) (h head, err error) {
	err = s.once(ctx, func(q *conn) error {
		h, err = q.row(id)
		return err
	})
	if err == nil && h.Altered {
		err = s.read(ctx, func(q *conn) error {
			h, err = q.head(id)
			return err
		})
	}
	return h, err
}

// Events implements [skein.Store].
func (s reads) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return stream.Events(ctx, after, func(after skein.Seq) (page []skein.Event, err error) {
		defer skein.Wrapf(&err, "postgres: events of %s", id)
		page, _, err = s.eventPage(ctx, id, after)
		return page, err
	})
}

// eventPage returns the next events after a seq, no events at the end, and the
// session's number.
func (s reads) eventPage(ctx context.Context, id skein.SessionID, after skein.Seq) (page []skein.Event, n int64, err error) {
	err = s.read(ctx, func(q *conn) error {
		page, n, err = q.eventsAfter(id, after)
		return err
	})
	return page, n, err
}

// eventsAfter is eventPage on one snapshot of the database.
func (q *conn) eventsAfter(id skein.SessionID, after skein.Seq) (page []skein.Event, n int64, err error) {
	h, err := q.head(id)
	if n = h.n; err != nil || after >= h.Last {
		return nil, n, err
	}
	if err := q.large(&h); err != nil {
		return nil, n, err
	}
	segs, err := q.segments(&h, h.Last)
	if err != nil {
		return nil, n, err
	}
	size := 0
	for i := len(segs) - 1; i >= 0 && len(page) < wire.PageRows; i-- {
		seg := segs[i]
		if seg.To <= after {
			continue
		}
		err := q.Query(`SELECT `+columns.Event+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 ORDER BY e.seq LIMIT $5`,
			[]any{string(h.User), seg.Session, int64(max(after, seg.From)), int64(seg.To), wire.PageRows - len(page)}, func(r wire.Row) error {
				if err := q.Hold(r); err != nil {
					return err
				}
				e, _, err := columns.ScanEvent(r)
				if err != nil {
					return err
				}
				if want := max(after, 0) + 1 + skein.Seq(len(page)); e.Seq != want {
					return columns.Missing(want)
				}
				page = append(page, e)
				if size += len(e.Payload); size > wire.PageBytes {
					return wire.ErrStop
				}
				return nil
			})
		if err != nil {
			if err = wire.Unstop(err); (errors.Is(err, skein.ErrCorrupt) || errors.Is(err, room.ErrFull)) && len(page) > 0 { // the next page returns the error
				err = nil
			}
			return page, n, err
		}
	}
	if len(page) == 0 {
		err = columns.Missing(max(after, 0) + 1)
	}
	return page, n, err
}

// Newest implements [skein.Store]; see [walk.Newest].
func (s reads) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (entries []skein.Entry, err error) {
	defer skein.Wrapf(&err, "postgres: newest %d messages of %s", n, id)
	err = s.read(ctx, func(q *conn) error {
		w, x, err := q.walker(id)
		if err == nil && n > 0 {
			w.Ahead(x.Segments)
			entries, err = walk.Newest(w, x, n, before)
		}
		return err
	})
	return entries, err
}

// walker returns a walker for the events of session id, and where they are.
func (q *conn) walker(id skein.SessionID) (*eventlog.Walker, walk.Extent, error) {
	h, err := q.head(id)
	if err != nil {
		return nil, walk.Extent{}, err
	}
	if err := q.large(&h); err != nil {
		return nil, walk.Extent{}, err
	}
	segs, err := q.segments(&h, h.Last)
	return eventlog.New(q.Conn, h.User), walk.Extent{Segments: segs, Last: h.Last, Said: h.Said}, err
}

// Window implements [skein.Store]; see [walk.Window].
func (s reads) Window(ctx context.Context, id skein.SessionID, n int) (events []skein.Event, err error) {
	defer skein.Wrapf(&err, "postgres: window of %s", id)
	if n < 1 {
		return walk.All(room.Kept(ctx, s.Events(ctx, id, 0), func(e skein.Event) int { return len(e.Payload) }))
	}
	err = s.read(ctx, func(q *conn) error {
		w, x, err := q.walker(id)
		if err == nil {
			events, err = walk.Window(w, x, n)
		}
		return err
	})
	return events, err
}
