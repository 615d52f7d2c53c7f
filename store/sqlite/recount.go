package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// recountAll recomputes the rows of sessions whose messages were deleted in the
// shell: triggers have kept the counts right, but cannot read payloads. It
// continues where an earlier run stopped.
func (c cleaner) recountAll(ctx context.Context) error {
	var due []int64
	err := c.readers.Read(ctx, func(r *engine.Conn) error {
		return r.Query(`SELECT CAST(substr(name, 9) AS INTEGER) AS n FROM maintenance WHERE name LIKE 'recount %' ORDER BY n`, nil, func(row []driver.Value) error {
			var n int64
			err := engine.Scan(row, []any{&n})
			due = append(due, n)
			return err
		})
	})
	all := []error{err}
	for _, n := range due {
		for more, err := true, error(nil); more && err == nil; {
			if err = ctx.Err(); err != nil {
				return errors.Join(append(all, err)...)
			}
			err = c.write(ctx, func(t *txn.Tx) (err error) {
				more, err = (&call{Tx: t, s: &view{core: c.core}}).recount(n)
				return err
			})
			all = append(all, err) // a session that cannot be read does not stop the others
		}
	}
	return errors.Join(all...)
}

// recountFor is how long a process that is about to end recomputes rows. A
// process that lives longer, or an examination, does what takes more time.
const recountFor = time.Second

// recountSome is recountAll limited to recountFor.
func (c cleaner) recountSome(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, recountFor)
	defer cancel()
	err := c.recountAll(short)
	if ctx.Err() == nil && short.Err() != nil {
		return nil
	}
	return err
}

// recounts reports whether rows must be recomputed.
func (ex *exam) recounts(area string) error {
	var n int64
	err := ex.read(func(c *engine.Conn) error {
		_, err := c.One(`SELECT count(*) FROM maintenance WHERE name LIKE 'recount %'`, nil, &n)
		return err
	})
	if err != nil || n == 0 {
		return err
	}
	return ex.Mend(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf(
		"sessions whose messages still have to be recounted, because messages were deleted with SQL: %d", n)},
		func() error { return cleaner{ex.s.core}.recountAll(ex.ctx) })
}

// recountName returns the name of the row of maintenance that asks to recount
// session n. Its times is how often that was asked for.
func recountName(n int64) string { return fmt.Sprintf("recount %d", n) }

// recountedName returns the name of the row of maintenance with the progress of a
// recount of session n that was asked for that often. Its times is a seq.
func recountedName(n, asked int64) string { return fmt.Sprintf("recounted %d %d", n, asked) }

// recountRows is how many events are processed in one transaction.
const recountRows = 200

// recount recomputes the next part of what the rows of session n say besides its
// events: first which turns the events belong to, then the session's own row. more is
// false when it is done. It includes events that were appended meanwhile.
func (t *call) recount(n int64) (more bool, err error) {
	var asked, done int64
	if found, err := t.One(`SELECT times FROM maintenance WHERE name = ?`, []any{recountName(n)}, &asked); err != nil || !found {
		return false, err
	}
	if _, err := t.One(`SELECT times FROM maintenance WHERE name = ?`, []any{recountedName(n, asked)}, &done); err != nil {
		return false, err
	}
	var id string
	if _, err := t.One(`SELECT id FROM sessions WHERE n = ?`, []any{n}, &id); err != nil {
		return false, err
	}
	if id != "" {
		h, err := t.Head(skein.SessionID(id))
		if err != nil {
			return false, err
		}
		if upto, err := t.renumber(&h, max(h.Base, skein.Seq(done))); err != nil {
			return false, fmt.Errorf("session %s: %w", id, err)
		} else if upto < h.Last {
			_, _, err := t.Exec(`INSERT INTO maintenance (name, times) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET times = excluded.times`, recountedName(n, asked), int64(upto))
			return true, err
		}
		if err := t.recountLive(&h); err != nil {
			return false, fmt.Errorf("session %s: %w", id, err)
		}
	}
	_, _, err = t.Exec(`DELETE FROM maintenance WHERE name = ? OR name LIKE ?`, recountName(n), fmt.Sprintf("recounted %d %%", n))
	return false, err
}

// renumber corrects, for the next of h's own events after a seq, which turn
// each belongs to, how many messages had begun there, and whether it is a
// piece, and returns the seq up to which it did so.
func (t *call) renumber(h *columns.Head, after skein.Seq) (upto skein.Seq, err error) {
	segs, err := headSegments(t.Tx, h)
	if err != nil {
		return 0, err
	}
	type numbered struct {
		walk.Said
		ordinal, turn int64
		piece         int64
		role          skein.Role // if it is damaged
	}
	var page []numbered
	if upto = h.Last; after >= upto {
		return upto, nil
	}
	err = t.Query(eventlog.SaidColumns+`, e.ordinal, e.turn, e.piece FROM events e WHERE e.session = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`, []any{h.N, int64(after), recountRows}, func(row []driver.Value) error {
		x := numbered{}
		end := len(row) - 3
		if err := engine.Scan(row[end:], []any{&x.ordinal, &x.turn, &x.piece}); err != nil {
			return err
		}
		var err error
		x.Said, err = eventlog.ScanSaid(t.s.pack, row[:end])
		var bad *skein.DamagedError
		if errors.As(err, &bad) {
			x.Payload, x.role, err = nil, bad.Role, nil
		}
		page = append(page, x)
		return err
	})
	l := eventlog.New(t.s.pack, t.Conn, nil)
	var at []skein.Counts
	if err == nil {
		at, err = l.Counts(segs, []skein.Seq{after})
	}
	if err != nil || len(page) == 0 {
		return upto, err
	}
	n := at[0]
	for _, x := range page {
		upto = x.Seq
		row, piece := skein.Counts{Messages: int(x.ordinal), Turns: int(x.turn)}, false
		if x.Kind == skein.KindSaid {
			if piece, err = t.joined(segs, x.Seq, x.Message); err != nil {
				return 0, err
			}
			typed := x.role == skein.RoleUser
			if m, err := skein.Decode[skein.Message](x.Event); err == nil {
				typed = m.Typed()
			}
			if !piece {
				n.Messages++
			}
			if !piece && typed {
				n.Turns++
			}
		}
		if n == row && piece == (x.piece != 0) {
			continue
		}
		if _, _, err := t.Exec(`UPDATE events SET turn = ?, ordinal = ?, piece = ? WHERE session = ? AND seq = ?`, n.Turns, n.Messages, piece, h.N, int64(x.Seq)); err != nil {
			return 0, err
		}
	}
	if len(page) < recountRows {
		upto = h.Last
	}
	return upto, nil
}

// joined reports whether the said event at seq was, when it was said, another
// piece of the message with the given ID.
func (t *call) joined(segs walk.Segments, seq skein.Seq, message string) (bool, error) {
	before := segs.Within(skein.SeqRange{From: 0, To: seq - 1})
	if message == "" || len(before) == 0 {
		return false, nil
	}
	l := eventlog.New(t.s.pack, t.Conn, nil)
	pieces, err := l.PiecesOf(before, message)
	if err != nil || len(pieces) == 0 {
		return false, err
	}
	x, err := walk.Undone(l, before, seq-1)
	if err != nil {
		return false, err
	}
	return walk.Joins(l, before, x.Gaps, message)
}

// recountLive recomputes h's row from the rows of its events. If a damaged event
// hides what was taken back, it relies on what the table rewound_ranges says.
func (t *call) recountLive(h *columns.Head) error {
	was := *h
	segs, err := headSegments(t.Tx, h)
	if err != nil {
		return err
	}
	g, err := t.gaps(h.N, segs, h.Last)
	if err != nil {
		return err
	}
	l := eventlog.New(t.s.pack, t.Conn, nil)
	x, err := walk.LiveWith(l, segs, g.ranges, h.Last)
	if err != nil {
		return err
	}
	past, err := walk.Past(l, segs, h.Said)
	if err != nil {
		return err
	}
	x.Show(&past)
	h.SetShown(past)
	h.Undone, h.Prompts, h.Model = past.Undone, x.Prompts, past.Model
	own, _, err := h.FoldOwn(l, segs[0], past)
	if err != nil {
		return err
	}
	h.Activity = own.Activity
	if h.Usage, err = eventlog.UsageOf(t.Tx.Conn, h.N); err != nil {
		return err
	}
	if err := putGaps(t.Tx, h.N, g.written, x.Gaps); err != nil {
		return err
	}
	t.Touch(h.ID)
	return t.PutHead(&was, h)
}
