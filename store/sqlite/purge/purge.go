package purge

import (
	"database/sql/driver"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// The most that one step removes from a session; a step takes some 50 ms.
const (
	stepRows  = 200
	stepBytes = 256 << 10
)

// A Purger destroys sessions in a transaction, step by step.
type Purger struct{ *txn.Tx }

// OneStep reports whether one step removes so many events of so many bytes.
func OneStep(rows skein.Seq, bytes int64) bool { return rows <= stepRows && bytes <= stepBytes }

// NewParent returns the fork that shows most of session n's own events, and the
// seq up to which it shows them. If no fork does, h.N is 0. The error is the driver's.
func (p Purger) NewParent(n int64) (h columns.Head, upto skein.Seq, err error) {
	err = p.Query(`SELECT s.n, s.id, b.upto FROM bases b JOIN sessions s ON s.n = b.session WHERE b.base = ? ORDER BY b.upto DESC, b.session LIMIT 1`,
		[]any{n}, func(row []driver.Value) error {
			var id string
			var seq int64
			err := engine.Scan(row, []any{&h.N, &id, &seq})
			h.ID, upto = skein.SessionID(id), skein.Seq(seq)
			return err
		})
	return h, upto, err
}

// Begin makes a session disappear and queues its events for Drain. newParent is
// the number of its events' new parent, 0 if it has none. The error is the driver's.
func (p Purger) Begin(h *columns.Head, newParent int64) error {
	if err := putTombstones(p.Tx, h.User, h.ID, h.Origin, p.Now); err != nil {
		return err
	}
	if err := Owe(p.Tx); err != nil {
		return err
	}
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO purge_queue (session, new_parent) VALUES (?, ?)`, []any{h.N, newParent}},
		{`UPDATE bases SET base = ? WHERE base = ? AND session <> ?`, []any{newParent, h.N, newParent}},
		{`DELETE FROM leases WHERE session = ?`, []any{string(h.ID)}},
		{
			`INSERT INTO shell_deletions (user_id, id, origin, path, origin_id, at) SELECT user_id, ?1, format, path, id, ?2 FROM files WHERE copy_of = ?1 AND copy_of <> '' AND user_id = ?3`,
			[]any{string(h.ID), int64(p.Now), string(h.User)},
		},
		// No query finds a file that has no format.
		{`UPDATE files SET format = '', path = 'deleted ' || n WHERE session = ? AND user_id = ?`, []any{string(h.ID), string(h.User)}},
		{`UPDATE files SET format = '', path = 'deleted ' || n WHERE copy_of = ? AND copy_of <> '' AND user_id = ?`, []any{string(h.ID), string(h.User)}},
		{`DELETE FROM sessions WHERE n = ?`, []any{h.N}},
	} {
		if _, _, err := p.Exec(q.sql, q.args...); err != nil {
			return err
		}
	}
	return AddTombstones(p.Tx)
}

// Drain does one step of removing what purged sessions left behind, and reports
// whether there is more to do. The error is the driver's, or wraps [skein.ErrCorrupt].
func (p Purger) Drain() (more bool, err error) {
	for steps := 0; ; {
		var n int64
		found, err := p.One(`SELECT session FROM purge_queue ORDER BY session LIMIT 1`, nil, &n)
		if err != nil {
			return false, err
		}
		if !found {
			return p.drainFiles()
		}
		steps++
		if steps > 1 {
			return true, nil
		}
		p.Forget()
		if err := p.drainEvents(n); err != nil {
			return false, err
		}
	}
}

// drainEvents removes the newest events from session n: those that no fork
// shows are destroyed first, then the others are moved to the fork. When no
// events are left, the session is gone.
func (p Purger) drainEvents(n int64) error {
	var newParent, upto int64
	shown, err := p.One(`SELECT session, upto FROM bases WHERE base = ? ORDER BY upto DESC, session LIMIT 1`, []any{n}, &newParent, &upto)
	if err != nil {
		return err
	}
	from, rows, err := p.lastRows(n, skein.Seq(upto))
	if err != nil {
		return err
	}
	if rows > 0 {
		if err := p.destroy(n, from); err != nil || rows == stepRows {
			return err
		}
		if from, rows, err = p.lastRows(n, skein.Seq(upto)); err != nil || rows > 0 {
			return err
		}
	}
	if shown {
		if from, rows, err = p.lastRows(n, 0); err != nil {
			return err
		}
	}
	if rows > 0 {
		return p.reparent(n, newParent, from)
	}
	return p.endPurge(n, newParent)
}

// lastRows returns how many of session n's newest events after a seq one step
// can process, and the seq that they follow.
func (p Purger) lastRows(n int64, after skein.Seq) (from skein.Seq, rows int, err error) {
	size := int64(0)
	err = p.Query(`SELECT seq, length(payload) + coalesce(octet_length(text), 0) + coalesce(octet_length(extra), 0)
		FROM events WHERE session = ? AND seq > ? ORDER BY seq DESC LIMIT ?`, []any{n, int64(after), stepRows}, func(row []driver.Value) error {
		var seq, bytes int64
		if err := engine.Scan(row, []any{&seq, &bytes}); err != nil {
			return err
		}
		if size += bytes; size > stepBytes && rows > 0 {
			return engine.ErrStop
		}
		rows++
		from = skein.Seq(seq) - 1
		return nil
	})
	return from, rows, engine.Unstop(err)
}

// destroy deletes the events of session n after a seq. It updates the search
// index in few statements: a trigger would make the index write for every row.
func (p Purger) destroy(n int64, from skein.Seq) error {
	for _, q := range []string{
		`INSERT INTO words (words, rowid, text, extra)
			SELECT 'delete', id, text, extra FROM events e
			WHERE session = ? AND seq > ? AND text IS NOT NULL AND id <= (SELECT upto FROM indexed) AND NOT EXISTS (SELECT 1 FROM passages WHERE event = e.id)`,
		`INSERT INTO words (words, rowid, text, extra)
			SELECT 'delete', p.id, CAST(substr(CAST(e.text AS BLOB), p.start + 1, p.size) AS TEXT), p.extra
			FROM events e CROSS JOIN passages p ON p.event = e.id WHERE e.session = ? AND e.seq > ? ORDER BY e.id, p.id`,
		`DELETE FROM passages WHERE event IN (SELECT id FROM events WHERE session = ? AND seq > ?)`,
		`UPDATE indexed SET gone = max(gone, (SELECT coalesce(max(id), 0) FROM events WHERE session = ? AND seq > ?))`,
		`DELETE FROM events WHERE session = ? AND seq > ?`,
	} {
		if _, _, err := p.Exec(q, n, int64(from)); err != nil {
			return err
		}
	}
	return nil
}

// reparent moves the events of session n after a seq to its new parent, newParent.
func (p Purger) reparent(n, newParent int64, from skein.Seq) error {
	if _, _, err := p.Exec(`UPDATE events SET session = ? WHERE session = ? AND seq > ?`, newParent, n, int64(from)); err != nil {
		return err
	}
	_, rows, err := p.Exec(`UPDATE bases SET upto = ? WHERE session = ? AND base = ?`, int64(from), newParent, n)
	if err == nil && rows != 1 {
		err = fmt.Errorf("fork %d of deleted session %d: %w", newParent, n, skein.ErrCorrupt)
	}
	return err
}

// endPurge ends the purge of session n, which has no events left. The new
// parent, newParent, takes over n's link to n's own parent.
func (p Purger) endPurge(n, newParent int64) error {
	if newParent != 0 {
		if _, _, err := p.Exec(`DELETE FROM bases WHERE session = ?`, newParent); err != nil {
			return err
		}
		if _, _, err := p.Exec(`UPDATE bases SET session = ? WHERE session = ?`, newParent, n); err != nil {
			return err
		}
	}
	if _, _, err := p.Exec(`DELETE FROM bases WHERE session = ?`, n); err != nil {
		return err
	}
	_, _, err := p.Exec(`DELETE FROM purge_queue WHERE session = ?`, n)
	return err
}

// drainFiles does one step of removing the source files and records of purged
// sessions.
func (p Purger) drainFiles() (more bool, err error) {
	var n int64
	found, err := p.One(`SELECT n FROM files WHERE format = '' ORDER BY path LIMIT 1`, nil, &n)
	if err != nil || !found {
		return false, err
	}
	_, rows, err := p.Exec(`DELETE FROM records WHERE n IN (SELECT n FROM records WHERE n >= ? AND n < ? ORDER BY n LIMIT ?)`,
		n*columns.RecordsPerFile, (n+1)*columns.RecordsPerFile, stepRows)
	if err != nil || rows == stepRows {
		return true, err
	}
	_, _, err = p.Exec(`DELETE FROM files WHERE n = ?`, n)
	return true, err
}

// Owe records that something was deleted and the file must be swept. The error is the
// driver's.
func Owe(t *txn.Tx) error {
	_, _, err := t.Exec(`INSERT INTO maintenance (name, times) VALUES ('sweep', 1) ON CONFLICT (name) DO UPDATE SET times = times + 1`)
	return err
}
