package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"maps"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// A head is the row of a session.
type head struct {
	ledger.Head       // LockedBy and Binned are looked up elsewhere
	n           int64 // sessions.n; 0 if there is no row yet
	bytes       int64
}

// heads caches the rows of the sessions that were written to last, so that an
// append need not read them. The changes of a transaction are kept separate
// until it is committed. Only the writer goroutine uses it.
type heads struct {
	kept  map[skein.SessionID]head // committed
	held  map[skein.SessionID]head // by the finished jobs of this transaction
	dirty map[skein.SessionID]head // by the running job

	lastID int64 // events.id assigned last; 0 if it must be looked up. A rollback leaves a gap
}

// maxHeads is how many heads are kept.
const maxHeads = 4096

func newHeads() *heads {
	return &heads{kept: map[skein.SessionID]head{}, held: map[skein.SessionID]head{}, dirty: map[skein.SessionID]head{}}
}

func (h *heads) find(id skein.SessionID) (head, bool) {
	for _, m := range []map[skein.SessionID]head{h.dirty, h.held, h.kept} {
		if x, ok := m[id]; ok {
			return x, true
		}
	}
	return head{}, false
}

func (h *heads) put(x head) { h.dirty[x.ID] = x }

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

// headFields are the columns of sessions that hold what queries look for, in the order
// of head.fields. Everything else of a head is in the column state.
const headFields = `id, user_id, key, title, first_words, project, repository, agent, parent, parent_seq, parent_why, parent_call, updated, binned, base, last, bytes`

// fields returns the fields of h in the columns headFields; those of its parent are
// in p.
func (h *head) fields(p *skein.Parent) []any {
	return []any{
		(*string)(&h.ID), (*string)(&h.User), &h.Key, &h.Title, &h.First, &h.Project, &h.Checkout.Repository, &h.Agent,
		(*string)(&p.Session), (*int64)(&p.Seq), (*string)(&p.Why), &p.Call,
		(*int64)(&h.Updated), (*int64)(&h.Binned), (*int64)(&h.Base), (*int64)(&h.Last), &h.bytes,
	}
}

// values returns the values of h in the columns headFields, and those of recent and
// state.
func (h *head) values() []any {
	p := skein.Parent{}
	if h.Parent != nil {
		p = *h.Parent
	}
	return append(h.fields(&p), int64(h.Updated>>10), h.state())
}

// stateJSON is sessions.state: a [ledger.State] without what has a column.
type stateJSON struct {
	ledger.State
	ID   struct{} `json:"id,omitzero"`
	User struct{} `json:"user,omitzero"`
	Last struct{} `json:"last,omitzero"`
}

// state returns sessions.state.
func (h *head) state() string {
	x := stateJSON{State: h.State()}
	rest := head{Head: ledger.Head{Session: x.Session}}
	for _, field := range rest.fields(&skein.Parent{}) {
		switch f := field.(type) {
		case *string:
			*f = ""
		case *int64:
			*f = 0
		}
	}
	rest.Parent = nil
	x.Session = rest.Session
	return string(skein.MustJSON(x))
}

// headColumns are the columns that headScan reads, of sessions s.
const headColumns = `s.n, s.locked_by, s.state, s.id, s.user_id, s.key, s.title, s.first_words, s.project, s.repository, s.agent, s.parent, s.parent_seq, s.parent_why, s.parent_call,
	s.updated, s.binned, s.base, s.last, s.bytes`

// headScan reads a row of headColumns.
func headScan(row []driver.Value) (h head, err error) {
	var state string
	var parent skein.Parent
	if err := engine.Scan(row, append([]any{&h.n, &h.LockedBy, &state}, h.fields(&parent)...)); err != nil {
		return head{}, err
	}
	if parent.Session != "" {
		h.Parent = &parent
	}
	x := stateJSON{State: ledger.State{Session: h.Session}}
	if json.Unmarshal([]byte(state), &x) != nil {
		h.Lost, h.Altered = true, true
		return h, nil //nolint:nilerr // its events say what it is
	}
	h.SetState(&x.State)
	return h, nil
}

const selectHead = `SELECT ` + headColumns + ` FROM sessions s WHERE s.id = ?`

// head returns the row of a session; its n is 0 if the session has no row.
func (t *tx) head(id skein.SessionID) (h head, err error) {
	if h, ok := t.heads.find(id); ok {
		return h, nil
	}
	h.ID = id
	err = t.Query(selectHead, []any{string(id)}, func(row []driver.Value) error {
		h, err = headScan(row)
		return err
	})
	if err == nil && h.Altered {
		err = retell(t.Conn, t.pack, &h)
	}
	return h, err
}

// putHead writes the columns in which h differs from was.
func (t *tx) putHead(was, h *head) (err error) {
	switch {
	case h.n == 0:
		h.n, err = t.insertHead(h)
	case sameFields(was, h):
		err = t.updateState(was, h)
	default:
		_, _, err = t.Exec(updateHead, append(h.values(), h.n)...)
	}
	if err == nil {
		t.heads.put(*h)
	}
	return err
}

// updateState writes the columns that every message changes. Setting any other
// column would remove the row from that column's indexes and add it again, even
// with the same value.
func (t *tx) updateState(was, h *head) (err error) {
	query := `UPDATE sessions SET updated = ?1, last = ?2, bytes = ?3, state = ?4 WHERE n = ?5`
	if was.Updated>>10 != h.Updated>>10 {
		query = `UPDATE sessions SET updated = ?1, last = ?2, bytes = ?3, state = ?4, recent = ?1 >> 10 WHERE n = ?5`
	}
	_, _, err = t.Exec(query, int64(h.Updated), int64(h.Last), h.bytes, h.state(), h.n)
	return err
}

// sameFields reports whether a and b differ only in what every message changes.
func sameFields(a, b *head) bool {
	x, y := &a.Session, &b.Session
	return x.Key == y.Key && x.Title == y.Title && x.First == y.First && x.Project == y.Project && x.Checkout.Repository == y.Checkout.Repository && x.Agent == y.Agent &&
		x.Parent == y.Parent && x.Binned == y.Binned && x.Base == y.Base && a.Altered == b.Altered
}

var (
	headMarks  = strings.TrimPrefix(strings.Repeat(`, ?`, strings.Count(headFields, `,`)+3), `, `)
	insertHead = `INSERT INTO sessions (` + headFields + `, recent, state) VALUES (` + headMarks + `)`
	updateHead = `UPDATE sessions SET (` + headFields + `, recent, state) = (` + headMarks + `) WHERE n = ?`
)

func (t *tx) insertHead(h *head) (int64, error) {
	n, _, err := t.Exec(insertHead, h.values()...)
	return n, err
}
