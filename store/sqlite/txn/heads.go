package txn

import (
	"database/sql/driver"
	"maps"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// heads caches the rows of the sessions that were written to last, so that an
// append need not read them. The changes of a transaction are kept separate
// until it is committed. Only the writer goroutine uses it.
type heads struct {
	kept  map[skein.SessionID]columns.Head // committed
	held  map[skein.SessionID]columns.Head // by the finished jobs of this transaction
	dirty map[skein.SessionID]columns.Head // by the running job

	lastID int64 // events.id assigned last; 0 if it must be looked up. A rollback leaves a gap
}

// maxHeads is how many heads are kept.
const maxHeads = 4096

func newHeads() *heads {
	return &heads{kept: map[skein.SessionID]columns.Head{}, held: map[skein.SessionID]columns.Head{}, dirty: map[skein.SessionID]columns.Head{}}
}

func (h *heads) find(id skein.SessionID) (columns.Head, bool) {
	for _, m := range []map[skein.SessionID]columns.Head{h.dirty, h.held, h.kept} {
		if x, ok := m[id]; ok {
			return x, true
		}
	}
	return columns.Head{}, false
}

func (h *heads) put(x columns.Head) { h.dirty[x.ID] = x }

// hold accepts the changes of the job that just finished; drop discards them.
func (h *heads) hold() {
	maps.Copy(h.held, h.dirty)
	clear(h.dirty)
}

func (h *heads) drop() { clear(h.dirty) }

// keep accepts the changes of the transaction after its commit.
func (h *heads) keep() {
	h.hold()
	if len(h.kept) > maxHeads {
		clear(h.kept)
	}
	maps.Copy(h.kept, h.held)
	clear(h.held)
}

// clear forgets all heads, after a rollback or another process's commit.
func (h *heads) clear() {
	clear(h.kept)
	clear(h.held)
	clear(h.dirty)
	h.lastID = 0
}

// Head returns the row of a session; its N is 0 if the session has no row. The
// error wraps [skein.ErrCorrupt] if what it says has to be read from events, and one
// of these cannot be read.
func (t *Tx) Head(id skein.SessionID) (h columns.Head, err error) {
	if h, ok := t.heads.find(id); ok {
		return h, nil
	}
	h.ID = id
	err = t.Query(columns.SelectHead, []any{string(id)}, func(row []driver.Value) error {
		h, err = columns.ScanHead(row)
		return err
	})
	if err == nil && h.Altered {
		err = eventlog.Retell(t.Conn, t.pack, &h)
	}
	return h, err
}

// PutHead writes the columns in which h differs from was. The error is the driver's.
func (t *Tx) PutHead(was, h *columns.Head) (err error) {
	switch {
	case h.N == 0:
		h.N, err = t.InsertHead(h)
	case columns.SameFields(was, h):
		err = t.updateState(was, h)
	default:
		_, _, err = t.Exec(columns.UpdateHead, append(h.Values(), h.N)...)
	}
	if err == nil {
		t.heads.put(*h)
	}
	return err
}

// updateState writes the columns that every message changes. Setting any other
// column would remove the row from that column's indexes and add it again, even
// with the same value.
func (t *Tx) updateState(was, h *columns.Head) (err error) {
	query := `UPDATE sessions SET updated = ?1, last = ?2, bytes = ?3, state = ?4 WHERE n = ?5`
	if was.Updated>>10 != h.Updated>>10 {
		query = `UPDATE sessions SET updated = ?1, last = ?2, bytes = ?3, state = ?4, recent = ?1 >> 10 WHERE n = ?5`
	}
	_, _, err = t.Exec(query, int64(h.Updated), int64(h.Last), h.Bytes, h.StateText(), h.N)
	return err
}

// InsertHead adds the row of a session and returns its number. The error is the
// driver's.
func (t *Tx) InsertHead(h *columns.Head) (int64, error) {
	n, _, err := t.Exec(columns.InsertHead, h.Values()...)
	return n, err
}
