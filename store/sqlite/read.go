package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/stream"
)

// head returns the row of a session that the view may see.
func (s *view) head(c *engine.Conn, id skein.SessionID) (h columns.Head, err error) {
	found := false
	err = c.Query(columns.SelectHead, []any{string(id)}, func(row []driver.Value) error {
		found = true
		h, err = columns.ScanHead(row)
		return err
	})
	if err == nil && (!found || !s.sees(h.User)) {
		err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	if err == nil && h.Lost {
		err = eventlog.Retell(c, s.pack, &h)
	}
	return h, err
}

// Session implements [skein.Store].
func (s *reads) Session(ctx context.Context, id skein.SessionID) (x skein.Session, err error) {
	defer skein.Wrapf(&err, "sqlite: session %s", id)
	err = s.read(ctx, func(c *engine.Conn) error {
		h, err := s.head(c, id)
		if err != nil {
			return err
		}
		x, err = s.shownSession(c, h)
		return err
	})
	return x, err
}

// Size implements [skein.Lifecycle].
func (s *reads) Size(ctx context.Context, id skein.SessionID) (n int64, err error) {
	defer skein.Wrapf(&err, "sqlite: size of %s", id)
	err = s.read(ctx, func(c *engine.Conn) error {
		h, err := s.head(c, id)
		n = h.Bytes
		return err
	})
	return n, err
}

// shownSession returns h as callers see it: locked only if it is locked now,
// and with the texts from its events if those of its row were altered.
func (s *view) shownSession(c *engine.Conn, h columns.Head) (x skein.Session, err error) {
	if h.Altered {
		if err := eventlog.Retell(c, s.pack, &h); err != nil {
			return x, err
		}
	}
	x = h.Session
	x.LockedBy, err = s.lockedBy(c, x.ID, h.LockedBy)
	return x, err
}

// Events implements [skein.Store].
func (s *reads) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return stream.Events(ctx, after, func(after skein.Seq) (page []skein.Event, err error) {
		defer skein.Wrapf(&err, "sqlite: events of %s", id)
		page, _, err = s.eventPage(ctx, id, after)
		return page, err
	})
}

// eventPage returns the next events after a place, or no events at the end, and
// the session's number.
func (s *reads) eventPage(ctx context.Context, id skein.SessionID, after skein.Seq) (page []skein.Event, n int64, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		page, n, err = s.eventsAfter(c, id, after, room.Of(ctx))
		return err
	})
	return page, n, err
}

// eventsAfter is eventPage on one state of the file. The memory for what it
// returns is reserved in share.
func (s *reads) eventsAfter(c *engine.Conn, id skein.SessionID, after skein.Seq, share *room.Share) (page []skein.Event, n int64, err error) {
	h, err := s.head(c, id)
	if n = h.N; err != nil || after >= h.Last {
		return nil, n, err
	}
	if share != nil {
		if err := columns.WaitIfLarge(c, &h); err != nil {
			return nil, n, err
		}
	}
	segs, err := eventlog.Segments(c, h.N, h.Last)
	if err != nil {
		return nil, n, err
	}
	size := 0
	for i := len(segs) - 1; i >= 0 && len(page) < eventlog.PageRows; i-- {
		seg := segs[i]
		if seg.To <= after {
			continue
		}
		err := c.Query(columns.SelectEvent+`WHERE e.session = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`,
			[]any{seg.Session, int64(max(after, seg.From)), int64(seg.To), eventlog.PageRows - len(page)}, func(row []driver.Value) error {
				if err := columns.Hold(share, row); err != nil {
					return err
				}
				e, _, err := columns.ScanEvent(s.pack, row)
				if err != nil {
					return err
				}
				if want := max(after, 0) + 1 + skein.Seq(len(page)); e.Seq != want {
					return missing(want)
				}
				page = append(page, e)
				if size += len(e.Payload); size > eventlog.PageBytes {
					return engine.ErrStop
				}
				return nil
			})
		if err != nil {
			if err = engine.Unstop(err); len(page) > 0 { // the next page begins with the bad event
				err = nil
			}
			return page, n, s.damagedAt(c, seg, max(after, 0)+1, err)
		}
	}
	if len(page) == 0 {
		err = missing(max(after, 0) + 1)
	}
	return page, n, err
}

// missing returns an error saying that an event is missing.
func missing(seq skein.Seq) error {
	return &skein.DamagedError{Seq: seq, Err: errors.New("its row is missing")}
}

// damagedAt returns err, if it is damage of the file, as an error about the
// event at seq, with what the intact part of its row says.
func (s *reads) damagedAt(c *engine.Conn, seg walk.Segment, seq skein.Seq, err error) error {
	var known *skein.DamagedError
	if err = engine.Classify(err); !errors.Is(err, skein.ErrCorrupt) || errors.As(err, &known) {
		return err
	}
	var at int64
	var kind, role string
	if _, lookErr := c.One(`SELECT at, kind, role FROM events WHERE session = ? AND seq = ?`, []any{seg.Session, int64(seq)}, &at, &kind, &role); lookErr != nil {
		at, kind, role = 0, "", ""
	}
	return &skein.DamagedError{Seq: seq, Time: skein.Time(at), Kind: skein.Kind(kind), Role: skein.Role(role), Err: err}
}
