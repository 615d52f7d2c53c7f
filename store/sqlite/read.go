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
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/stream"
)

// A page is what is read at once. Between two pages the caller runs, and no
// connection or transaction is held.
const (
	pageRows  = 256
	pageBytes = 1 << 20
)

// head returns the row of a session that the view may see.
func (s *view) head(c *engine.Conn, id skein.SessionID) (h head, err error) {
	found := false
	err = c.Query(selectHead, []any{string(id)}, func(row []driver.Value) error {
		found = true
		h, err = headScan(row)
		return err
	})
	if err == nil && (!found || !s.sees(h.User)) {
		err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	if err == nil && h.Lost {
		err = retell(c, s.pack, &h)
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
		n = h.bytes
		return err
	})
	return n, err
}

// shownSession returns h as callers see it: locked only if it is locked now,
// and with the texts from its events if those of its row were altered.
func (s *view) shownSession(c *engine.Conn, h head) (x skein.Session, err error) {
	if h.Altered {
		if err := retell(c, s.pack, &h); err != nil {
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
	if n = h.n; err != nil || after >= h.Last {
		return nil, n, err
	}
	if share != nil {
		if err := waitIfLarge(c, &h); err != nil {
			return nil, n, err
		}
	}
	segs, err := segments(c, h.n, h.Last)
	if err != nil {
		return nil, n, err
	}
	size := 0
	for i := len(segs) - 1; i >= 0 && len(page) < pageRows; i-- {
		seg := segs[i]
		if seg.To <= after {
			continue
		}
		err := c.Query(selectEvent+`WHERE e.session = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`,
			[]any{seg.Session, int64(max(after, seg.From)), int64(seg.To), pageRows - len(page)}, func(row []driver.Value) error {
				if err := hold(share, row); err != nil {
					return err
				}
				e, _, err := rowEvent(s.pack, row)
				if err != nil {
					return err
				}
				if want := max(after, 0) + 1 + skein.Seq(len(page)); e.Seq != want {
					return missing(want)
				}
				page = append(page, e)
				if size += len(e.Payload); size > pageBytes {
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

const (
	eventColumns  = `e.seq, e.at, e.kind, e.client, e.payload, e.text, e.turn, e.prev, e.piece, e.sum, e.hash, e.role`
	eventWidth    = 12 // how many columns these are
	payloadColumn = 4
	textColumn    = 5
	sumColumn     = 9
	roleColumn    = 11
	selectEvent   = `SELECT ` + eventColumns + ` FROM events e `
)

// hold reserves memory in s for the event of a row of selectEvent. The error is
// [room.ErrFull].
func hold(s *room.Share, row []driver.Value) error {
	if s == nil {
		return nil
	}
	payload, _ := row[payloadColumn].([]byte)
	text, _ := row[textColumn].(string)
	return s.Try(int64(len(payload) + 2*len(text))) // the payload contains the text, too
}

// A place is the rest of an event's row, besides the event.
type place struct {
	turn  int
	prev  skein.Seq
	piece bool
}

// event reads a row of selectEvent. The error is a [skein.DamagedError] if the
// event is not what was stored.
func rowEvent(k *pack.Packer, row []driver.Value) (e skein.Event, p place, err error) {
	var seq, at, turn, prev, piece int64
	var kind, client, text, role string
	var payload, hash []byte
	var sum int64
	if err := engine.Scan(row, []any{&seq, &at, &kind, &client, &payload, &text, &turn, &prev, &piece, &sum, &hash, &role}); err != nil {
		return e, p, err
	}
	e = skein.Event{Seq: skein.Seq(seq), Time: skein.Time(at), Kind: skein.Kind(kind), ClientID: skein.ClientID(client)}
	p = place{int(turn), skein.Seq(prev), piece != 0}
	if e.Payload, err = k.Unpack(payload, text); err == nil {
		if row[sumColumn] == nil {
			sum = unsummed
		}
		err = compare(&e, text, sum, hash)
	}
	if err != nil {
		err = &skein.DamagedError{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Role: skein.Role(role), Err: err}
	}
	return e, p, err
}
