package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/stream"
)

// feedStep is the most event IDs that one page goes through: a view may see few
// of them.
const feedStep = 20_000

// Feed implements [skein.Feed]. A cursor is the ID of an event: IDs are
// assigned in the order of commits, and never twice.
func (s *feeds) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		if err := s.feed(ctx, after, yield); err != nil && (ctx.Err() == nil || errors.Is(err, skein.ErrInvalid)) {
			skein.Wrapf(&err, "sqlite: feed")
			yield(skein.Fed{}, err)
		}
	}
}

func (s *feeds) feed(ctx context.Context, after skein.Cursor, yield func(skein.Fed, error) bool) error {
	at, err := stream.Place(after)
	if err != nil {
		return err
	}
	stop, err := s.startWatching()
	if err != nil {
		return err
	}
	defer stop()
	share := room.Of(ctx)
	for {
		was := share.Used()
		changed := s.wakers.Wait("") // before reading, so that no change is missed in between
		page, upto, err := s.feedPage(ctx, at)
		took := share.Used() - was
		if err != nil {
			return err
		}
		if at < 0 {
			page = []skein.Fed{{Cursor: stream.Cursor(upto)}}
		}
		for _, f := range page {
			if !yield(f, nil) {
				return nil
			}
		}
		share.Give(took)
		if upto > at && at >= 0 {
			at = upto
			continue
		}
		at = upto
		select {
		case <-changed:
		case <-s.ending:
		case <-ctx.Done():
			return nil
		}
	}
}

// feedPage returns the next events after a place, and the place behind them.
// For the end, -1, it returns only the place.
func (s *feeds) feedPage(ctx context.Context, at int64) (page []skein.Fed, upto int64, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		page, upto = nil, at
		var last int64
		if _, err := c.One(`SELECT coalesce(max(id), 0) FROM events`, nil, &last); err != nil {
			return err
		}
		if at < 0 {
			upto = last
			return nil
		}
		upto = max(at, min(last, at+feedStep))
		if upto > at {
			if err := room.Turn(c.Context()); err != nil {
				return err
			}
		}
		size := 0
		err := c.Query(`SELECT `+columns.EventColumns+`, s.id, s.user_id, e.id
			FROM events e CROSS JOIN sessions s ON s.n = e.session
			WHERE e.id > ?1 AND e.id <= ?2 AND (?3 = '' OR s.user_id = ?3) ORDER BY e.id LIMIT ?4`,
			[]any{at, upto, string(s.user), eventlog.PageRows}, func(row []driver.Value) error {
				if err := columns.Hold(room.Of(ctx), row); err != nil {
					return err
				}
				f, id, err := s.scanFed(row)
				if err != nil {
					return err
				}
				page = append(page, f)
				size += len(f.Event.Payload)
				if size > eventlog.PageBytes || len(page) == eventlog.PageRows {
					upto = id
					return engine.ErrStop
				}
				return nil
			})
		return engine.Unstop(err)
	})
	return page, upto, err
}

func (s *feeds) scanFed(row []driver.Value) (f skein.Fed, id int64, err error) {
	f.Event, _, err = columns.ScanEvent(s.pack, row[:columns.EventWidth])
	if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
		f.Event, f.Damaged, err = bad.Placeholder(), true, nil // one damaged event must not hide all that follow
	}
	if err != nil {
		return f, 0, err
	}
	var session, user string
	err = engine.Scan(row[columns.EventWidth:], []any{&session, &user, &id})
	f.Cursor, f.Session, f.User = stream.Cursor(id), skein.SessionID(session), skein.User(user)
	return f, id, err
}
