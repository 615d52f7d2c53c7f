package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
)

// recountAll works out anew what the rows of those sessions say whose messages
// were deleted in the shell: triggers have kept the counts right, but cannot
// read payloads.
func (c *core) recountAll(ctx context.Context) error {
	var due []int64
	err := c.readers.with(ctx, func(r *conn) error {
		return r.query(`SELECT CAST(substr(name, 9) AS INTEGER) FROM chores WHERE name LIKE 'recount %'`, nil, func(row []driver.Value) error {
			var n int64
			err := scan(row, []any{&n})
			due = append(due, n)
			return err
		})
	})
	for _, n := range due {
		err = errors.Join(err, c.recount(ctx, n))
	}
	return err
}

// recountFor is how long a process that ends works out rows anew. One that
// lives longer, or an examination, does those that take more.
const recountFor = time.Second

// recountSome is recountAll, and sumAll, as far as they get in recountFor.
func (c *core) recountSome(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, recountFor)
	defer cancel()
	err := errors.Join(c.recountAll(short), c.sumAll(short))
	if ctx.Err() == nil && short.Err() != nil {
		return nil
	}
	return err
}

// recounts says whether rows are to be worked out anew.
func (ex *exam) recounts(area string) error {
	var n int64
	err := ex.read(func(c *conn) error {
		_, err := c.one(`SELECT count(*) FROM chores WHERE name LIKE 'recount %'`, nil, &n)
		return err
	})
	if err != nil || n == 0 {
		return err
	}
	return ex.Mend(skein.Finding{Area: area, Level: skein.Warning, Text: fmt.Sprintf("messages were deleted in the shell; what is said of %d sessions is yet to be worked out anew", n)},
		func() error { return ex.s.recountAll(ex.ctx) })
}

// A recounted event is what its row should say besides the event.
type recounted struct {
	seq           skein.Seq
	turn, ordinal int
	piece         bool
}

// recountRows is how many rows are set right in one transaction.
const recountRows = 200

// recount works out session n's row anew, and to which turns its events
// belong, from its events. What is appended meanwhile is worked out with the
// next call.
func (c *core) recount(ctx context.Context, n int64) error {
	chore := fmt.Sprintf("recount %d", n)
	var id string
	var asked int64
	err := c.readers.with(ctx, func(r *conn) error {
		if _, err := r.one(`SELECT times FROM chores WHERE name = ?`, []any{chore}, &asked); err != nil {
			return err
		}
		_, err := r.one(`SELECT id FROM sessions WHERE n = ?`, []any{n}, &id)
		return err
	})
	if err != nil {
		return err
	}
	if id != "" {
		sum, err := c.refold(ctx, skein.SessionID(id))
		if err != nil {
			return err
		}
		if done, err := c.putRecount(ctx, n, sum); err != nil || !done {
			return err
		}
	}
	return c.write(ctx, func(t *tx) error {
		_, _, err := t.exec(`DELETE FROM chores WHERE name = ? AND times = ?`, chore, asked)
		return err
	})
}

// refold folds all events of a session and, page by page, sets right what the
// rows of its own say besides.
func (c *core) refold(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	s := &Store{core: c}
	sum := skein.NewTally(id)
	for after := skein.Seq(0); ; {
		if err := ctx.Err(); err != nil {
			return skein.Session{}, err
		}
		var page []skein.Event
		var n int64
		err := c.readers.with(ctx, func(r *conn) (err error) {
			page, n, err = s.eventsAfter(r, id, after)
			return err
		})
		if err != nil || len(page) == 0 {
			return sum.Session(), err
		}
		rows := make([]recounted, 0, len(page))
		for _, e := range page {
			added, err := sum.Add(e)
			if err != nil {
				return skein.Session{}, fmt.Errorf("session %s: %w", id, err)
			}
			ever := sum.Session()
			rows = append(rows, recounted{e.Seq, added.Turn, ever.Ever().Messages, added.Piece})
		}
		after = page[len(page)-1].Seq
		for len(rows) > 0 {
			some := rows[:min(len(rows), recountRows)]
			rows = rows[len(some):]
			if err := c.write(ctx, func(t *tx) error { return t.setPlaces(n, some) }); err != nil {
				return skein.Session{}, err
			}
		}
	}
}

// setPlaces sets right what the rows of session n's own events say besides the
// events.
func (t *tx) setPlaces(n int64, rows []recounted) error {
	for _, r := range rows {
		if _, _, err := t.exec(`UPDATE events SET turn = ?, ordinal = ?, piece = ? WHERE session = ? AND seq = ? AND (turn, ordinal, piece) <> (?, ?, ?)`,
			r.turn, r.ordinal, r.piece, n, int64(r.seq), r.turn, r.ordinal, r.piece); err != nil {
			return err
		}
	}
	return nil
}

// putRecount writes what the events of session n add up to, unless it has more
// by now.
func (c *core) putRecount(ctx context.Context, n int64, sum skein.Session) (done bool, err error) {
	err = c.write(ctx, func(t *tx) error {
		h, err := t.head(sum.ID)
		if done = h.n == n && h.Last == sum.Last; err != nil || !done {
			return err
		}
		was := h
		h.Stand(sum.Shown())
		h.Undone = sum.Undone
		h.Model, h.Provider, h.Open, h.Uncertain, h.Compactions = sum.Model, sum.Provider, sum.Open, sum.Uncertain, sum.Compactions
		u := &h.Usage
		if _, err := t.one(`SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(reasoning), 0), coalesce(sum(cache_read), 0),
			coalesce(sum(cache_write), 0), coalesce(sum(cache_hour), 0), coalesce(sum(requests), 0), coalesce(sum(reported), 0) FROM usage WHERE session = ?`, []any{n},
			&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.CacheHour, &u.Requests, &u.Reported); err != nil {
			return err
		}
		call := &call{tx: t, s: &Store{core: c}}
		if err := call.putGaps(&h); err != nil {
			return err
		}
		t.changed = append(t.changed, sum.ID)
		return t.putHead(&was, &h)
	})
	return done, err
}
