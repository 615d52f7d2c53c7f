package columns

import (
	"database/sql/driver"
	"encoding/json"
	"runtime/debug"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// A Head is the row of a session.
type Head struct {
	ledger.Head       // LockedBy and Binned are looked up elsewhere
	N           int64 // sessions.n; 0 if there is no row yet
	Bytes       int64
}

// headFields are the columns of sessions that hold what queries look for, in the order
// of head.fields. Everything else of a head is in the column state.
const headFields = `id, user_id, key, title, first_words, project, repository, agent, parent, parent_seq, parent_why, parent_call, updated, binned, base, last, bytes`

// fields returns the fields of h in the columns headFields; those of its parent are
// in p.
func (h *Head) fields(p *skein.Parent) []any {
	return []any{
		(*string)(&h.ID), (*string)(&h.User), &h.Key, &h.Title, &h.First, &h.Project, &h.Checkout.Repository, &h.Agent,
		(*string)(&p.Session), (*int64)(&p.Seq), (*string)(&p.Why), &p.Call,
		(*int64)(&h.Updated), (*int64)(&h.Binned), (*int64)(&h.Base), (*int64)(&h.Last), &h.Bytes,
	}
}

// Values returns the arguments of [InsertHead] and the first ones of [UpdateHead].
func (h *Head) Values() []any {
	p := skein.Parent{}
	if h.Parent != nil {
		p = *h.Parent
	}
	return append(h.fields(&p), int64(h.Updated>>10), h.StateText())
}

// stateJSON is sessions.state: a [ledger.State] without what has a column.
type stateJSON struct {
	ledger.State
	ID   struct{} `json:"id,omitzero"`
	User struct{} `json:"user,omitzero"`
	Last struct{} `json:"last,omitzero"`
}

// StateText returns sessions.state.
func (h *Head) StateText() string {
	x := stateJSON{State: h.State()}
	rest := Head{Head: ledger.Head{Session: x.Session}}
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

// HeadColumns are the columns that [ScanHead] reads, of sessions s.
const HeadColumns = `s.n, s.locked_by, s.state, s.id, s.user_id, s.key, s.title, s.first_words, s.project, s.repository, s.agent, s.parent, s.parent_seq, s.parent_why, s.parent_call,
	s.updated, s.binned, s.base, s.last, s.bytes`

// ScanHead reads a row of [HeadColumns]. The error says that the columns are not these.
func ScanHead(row []driver.Value) (h Head, err error) {
	var state string
	var parent skein.Parent
	if err := engine.Scan(row, append([]any{&h.N, &h.LockedBy, &state}, h.fields(&parent)...)); err != nil {
		return Head{}, err
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

// SelectHead selects the row of one session.
const SelectHead = `SELECT ` + HeadColumns + ` FROM sessions s WHERE s.id = ?`

// SameFields reports whether a and b differ only in what every message changes.
func SameFields(a, b *Head) bool {
	x, y := &a.Session, &b.Session
	return x.Key == y.Key && x.Title == y.Title && x.First == y.First && x.Project == y.Project && x.Checkout.Repository == y.Checkout.Repository && x.Agent == y.Agent &&
		x.Parent == y.Parent && x.Binned == y.Binned && x.Base == y.Base && a.Altered == b.Altered
}

// InsertHead adds the row of a session, UpdateHead writes all columns of one.
var (
	headMarks  = strings.TrimPrefix(strings.Repeat(`, ?`, strings.Count(headFields, `,`)+3), `, `)
	InsertHead = `INSERT INTO sessions (` + headFields + `, recent, state) VALUES (` + headMarks + `)`
	UpdateHead = `UPDATE sessions SET (` + headFields + `, recent, state) = (` + headMarks + `) WHERE n = ?`
)

// LargeFrom is how many bytes a session or an event has that is large.
const LargeFrom = 8 << 20

// WaitIfLarge returns what [room.Turn] does if a session may have something long,
// because only a few of the readers that share a [room.Room] read such a session at
// once. The error is that of room.Turn.
func WaitIfLarge(c *engine.Conn, h *Head) error {
	if h.Bytes < LargeFrom && h.Parent == nil { // how much it shows of the parent is not known
		return nil
	}
	return room.Turn(c.Context())
}

// CollectFor collects garbage, and returns its memory to the system, before SQLite
// processes a value of n bytes, if that is long: SQLite copies it several times, in
// memory that the garbage collector does not count.
func CollectFor(n int64) {
	if n >= LargeFrom {
		debug.FreeOSMemory()
	}
}
