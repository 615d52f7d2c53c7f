package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/eventlog"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A head is what is known of a session: its row in sessions, and what an append
// has to match in its row in heads.
type head struct {
	ledger.Head       // LockedBy is set for readers only
	n           int64 // sessions.n; 0 if it has not begun
	bytes       int64
	revision    int64         // heads.revision; known to writers only
	segs        walk.Segments // what a fork shows, its own first; known to writers only
}

// state returns sessions.state. Binned and LockedBy are stored elsewhere.
func (h *head) state() []byte { return skein.MustJSON(h.State()) }

// headColumns are the columns that scanHead reads, of sessions s.
const headColumns = `s.n, s.state, s.binned, s.bytes, (SELECT l.holder FROM heads h JOIN leases l ON l.id = h.id WHERE h.n = s.n AND h.held AND h.expires > clock_timestamp())`

// scanHead reads a row of headColumns, and the columns that follow into more.
func scanHead(r wire.Row, more ...any) (h head, err error) {
	var state []byte
	var binned int64
	var holder *string
	if err := r.Scan(append([]any{&h.n, &state, &binned, &h.bytes, &holder}, more...)...); err != nil {
		return h, err
	}
	if err := h.setState(state); err != nil {
		return h, err
	}
	h.Binned = skein.Time(binned)
	if holder != nil {
		x, err := holderFrom(*holder)
		if err != nil {
			return h, err
		}
		h.LockedBy = x.String()
	}
	return h, nil
}

func (h *head) setState(state []byte) error {
	var x ledger.State
	if err := json.Unmarshal(state, &x); err != nil {
		return fmt.Errorf("session number %d: state %.40q: %w: %w", h.n, state, skein.ErrCorrupt, err)
	}
	h.SetState(&x)
	return nil
}

// retell sets the texts of h from its events if those of its row were altered.
func (q *conn) retell(h *head) error {
	if !h.Altered {
		return nil
	}
	segs, err := q.segments(h, h.Last)
	if err != nil {
		return err
	}
	return h.Retell(eventlog.New(q.Conn, h.User), segs)
}

func holderFrom(s string) (h skein.Holder, err error) {
	if err := json.Unmarshal([]byte(s), &h); err != nil {
		return h, fmt.Errorf("lease: holder %q: %w", s, skein.ErrCorrupt)
	}
	return h, nil
}

// head returns the session id, if the view may see it.
//
// The error wraps [skein.ErrNotFound] otherwise.
func (q *conn) head(id skein.SessionID) (h head, err error) {
	if h, err = q.row(id); err == nil {
		err = q.retell(&h)
	}
	return h, err
}

// row is head with the texts of the row, even if they were altered.
func (q *conn) row(id skein.SessionID) (h head, err error) {
	p := q.pipe()
	p.head(id, &h)
	if err := p.Run(); err != nil {
		return h, err
	}
	return h, h.there(id)
}

// head adds the query for session id to the pipe; h.there says whether it was found.
func (p *pipe) head(id skein.SessionID, h *head) {
	if columns.Plain(string(id)) != string(id) {
		return // no session has such an ID
	}
	cond, args := `s.id = $1 AND s.user_id = (SELECT x.user_id FROM heads x WHERE x.id = $1)`, []any{string(id)}
	if u := p.Conn.User; u != "" {
		cond, args = `s.id = $1 AND s.user_id = $2`, append(args, string(u))
	}
	p.Query(`SELECT `+headColumns+` FROM sessions s WHERE `+cond, args, func(r wire.Row) (err error) {
		*h, err = scanHead(r)
		return err
	})
}

// there returns an error wrapping [skein.ErrNotFound] if no session was found.
func (h *head) there(id skein.SessionID) error {
	if h.n == 0 {
		return fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	}
	return nil
}

// segments returns the segments that the session h shows up to upto, its own first,
// so newest first. At h.Base and before, its own segment is empty.
func (q *conn) segments(h *head, upto skein.Seq) (segs walk.Segments, err error) {
	if h.Base == 0 {
		return walk.Segments{{Session: h.n, From: 0, To: upto}}, nil
	}
	return q.segmentsOf(h.User, h.n, upto)
}

// segmentsOf is segments for session number n of a user.
func (q *conn) segmentsOf(user skein.User, n int64, upto skein.Seq) (segs walk.Segments, err error) {
	segs = walk.Segments{{Session: n, From: 0, To: upto}}
	err = q.Query(`WITH RECURSIVE b (base, upto, depth) AS (
			SELECT base, upto, 1 FROM bases WHERE user_id = $1 AND n = $2
			UNION ALL SELECT x.base, x.upto, b.depth + 1 FROM b JOIN bases x ON x.user_id = $1 AND x.n = b.base)
		SELECT base, upto FROM b ORDER BY depth`, []any{string(user), n}, func(r wire.Row) error {
		var base int64
		var at skein.Seq
		if err := r.Scan(&base, &at); err != nil {
			return err
		}
		segs = segs.Base(base, at)
		return nil
	})
	return segs, err
}
