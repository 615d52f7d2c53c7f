package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// The most that one page reads. Between two pages, the caller runs, and neither a
// connection nor a lock is held.
const (
	pageRows  = 500
	pageBytes = 1 << 20
)

// Session implements [skein.Store].
func (s reads) Session(ctx context.Context, id skein.SessionID) (x skein.Session, err error) {
	defer skein.Wrapf(&err, "postgres: session %s", id)
	h, err := s.headOf(ctx, id)
	return h.Session, err
}

// headOf returns a session that the view may see, in one round trip unless its row
// was altered.
func (s *view) headOf(ctx context.Context, id skein.SessionID) (h head, err error) {
	err = s.with(ctx, "", func(q *conn) error {
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
	return func(yield func(skein.Event, error) bool) {
		share := room.Of(ctx)
		for {
			was := share.Used()
			page, _, err := s.eventPage(ctx, id, after)
			took := share.Used() - was
			if err != nil {
				skein.Wrapf(&err, "postgres: events of %s", id)
				yield(skein.Event{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			after = page[len(page)-1].Seq
			share.Give(took)
		}
	}
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
	for i := len(segs) - 1; i >= 0 && len(page) < pageRows; i-- {
		seg := segs[i]
		if seg.To <= after {
			continue
		}
		err := q.query(`SELECT `+eventColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 ORDER BY e.seq LIMIT $5`,
			[]any{string(h.User), seg.Session, int64(max(after, seg.From)), int64(seg.To), pageRows - len(page)}, func(r row) error {
				if err := q.hold(r); err != nil {
					return err
				}
				e, _, err := scanEvent(r)
				if err != nil {
					return err
				}
				if want := max(after, 0) + 1 + skein.Seq(len(page)); e.Seq != want {
					return missing(want)
				}
				page = append(page, e)
				if size += len(e.Payload); size > pageBytes {
					return errStop
				}
				return nil
			})
		if err != nil {
			if err = unstop(err); (errors.Is(err, skein.ErrCorrupt) || errors.Is(err, room.ErrFull)) && len(page) > 0 { // the next page returns the error
				err = nil
			}
			return page, n, err
		}
	}
	if len(page) == 0 {
		err = missing(max(after, 0) + 1)
	}
	return page, n, err
}

// missing returns the error for a missing event.
func missing(seq skein.Seq) error {
	return &skein.DamagedError{Seq: seq, Err: errors.New("its row is missing")}
}
