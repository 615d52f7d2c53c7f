package postgres

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A position is a place in the journal: after the event at seq in the row with this
// ordinal of this transaction. Ordinal -1 is before the first row.
type position struct {
	xid     uint64
	ordinal int32
	seq     skein.Seq
}

// A journalRow is a row of the journal, or the rest of one after a position: the
// events after from, up to and including to.
type journalRow struct {
	xid      uint64
	ordinal  int32
	user     string
	session  int64
	from, to skein.Seq
}

// journalEdge is the lowest ID of a transaction that may still be running and append:
// rows at or after it may yet be preceded by others. It holds for the statements that
// follow in a READ COMMITTED transaction; setEdge keeps it for them.
const (
	journalEdge = `(SELECT journal_edge())`
	setEdge     = `SELECT set_config('skein.edge', journal_edge()::text, true)`
)

// lockJournal comes first in each transaction that appends: the lock shows which
// transactions the edge has to wait for. The statement of the usual append takes it
// by itself.
const lockJournal = `LOCK TABLE journal IN ROW EXCLUSIVE MODE`

// journal returns the next rows after a bookmark and before the edge, at most most of
// them, and the position after them. It leaves out rows that the bookmark's snapshot
// has and, in a view, those of other users. waiting says that there are rows at or
// after the edge; line is the timeline on which they were read.
func (q *conn) journal(at bookmark, most int) (rows []journalRow, end position, waiting bool, line int32, err error) {
	mine, args := mine(q.User, []any{at.xid, at.ordinal})
	behind := mine
	if at.seen != "" {
		args = append(args, at.seen)
		mine += fmt.Sprintf(" AND NOT pg_visible_in_snapshot(j.xid, $%d::pg_snapshot)", len(args))
	}
	n, edge := 0, position{ordinal: -1}
	p := q.pipe()
	p.Exec(setEdge)
	p.Query(edgeAnd(behind)+`SELECT edge.xid, edge.waiting, w.xid, w.ordinal, w.user_id, w.n, w.after, w.upto
		FROM edge LEFT JOIN (SELECT j.xid, j.ordinal, j.user_id, j.n, j.after, j.upto FROM journal j
			WHERE (j.xid, j.ordinal) >= ($1::xid8, $2::int) AND j.xid < current_setting('skein.edge')::xid8`+mine+` ORDER BY j.xid, j.ordinal LIMIT `+strconv.Itoa(most)+`) w ON true
		ORDER BY w.xid, w.ordinal`, args, func(r wire.Row) error {
		var xid *uint64
		var user *string
		var ordinal *int32
		var session, from, to *int64
		if err := r.Scan(&edge.xid, &waiting, &xid, &ordinal, &user, &session, &from, &to); err != nil || xid == nil {
			return err
		}
		x := journalRow{*xid, *ordinal, *user, *session, skein.Seq(*from), skein.Seq(*to)}
		n++
		end = position{x.xid, x.ordinal, x.to}
		if x.xid == at.xid && x.ordinal == at.ordinal {
			x.from = max(x.from, at.seq)
		}
		if x.from < x.to {
			rows = append(rows, x)
		}
		return nil
	})
	p.line(&line)
	if err := p.Run(); err != nil {
		return nil, at.position, false, 0, err
	}
	if n < most {
		end = edge
	}
	if end.before(at.position) {
		end = at.position
	}
	return rows, end, waiting, line, nil
}

// mine returns the view's condition on the journal j, and args with its arguments.
func mine(u skein.User, args []any) (string, []any) {
	if u == "" {
		return "", args
	}
	return fmt.Sprintf(" AND j.user_id = $%d", len(args)+1), append(args, string(u))
}

// edge adds a query for the edge, whether there are rows at or after it, and the
// snapshot of that moment.
func (p *pipe) edge(xid *uint64, waiting *bool, now *string) {
	mine, args := mine(p.Conn.User, nil)
	p.Exec(setEdge)
	p.One(nil, edgeAnd(mine)+`SELECT edge.xid, edge.waiting, pg_current_snapshot()::text FROM edge`, args, xid, waiting, now)
}

// edgeAnd begins a statement with the edge, and whether there are rows at or after it
// for which a condition holds. It looks at the last such row only: for EXISTS, the
// planner may scan the whole table.
func edgeAnd(cond string) string {
	return `WITH edge AS MATERIALIZED (SELECT current_setting('skein.edge')::xid8 AS xid, coalesce((SELECT j.xid FROM journal j
		WHERE true` + cond + ` ORDER BY j.xid DESC, j.ordinal DESC LIMIT 1) >= current_setting('skein.edge')::xid8, false) AS waiting) `
}

// before reports whether a is before b.
func (a position) before(b position) bool {
	switch {
	case a.xid != b.xid:
		return a.xid < b.xid
	case a.ordinal != b.ordinal:
		return a.ordinal < b.ordinal
	}
	return a.seq < b.seq
}

// A journaled is an event and its position in the journal.
type journaled struct {
	skein.Event
	position
	user    string
	session int64
	id      skein.SessionID // the session's ID; "" if it was deleted
	kept    bool            // the session or a fork still shows it
	damaged bool            // Event is a placeholder
	amends  *int64          // for an amended event: the seq of the event that it amends
	aimed   skein.Kind      // and the kind of that event
}

// eventsOf returns the first events of rows: at most most of them, and about bytes of
// payload, but at least one. all says that these are all of them.
func (q *conn) eventsOf(rows []journalRow, most, bytes int) (page []journaled, all bool, err error) {
	var users []string
	var sessions, from, to []int64
	n := 0
	for _, x := range rows {
		if n >= most {
			break
		}
		upto := min(x.to, x.from+skein.Seq(most-n))
		n += int(upto - x.from)
		users, sessions = append(users, x.user), append(sessions, x.session)
		from, to = append(from, int64(x.from)), append(to, int64(upto))
	}
	whole := len(users) == len(rows) && (n == 0 || skein.Seq(to[len(to)-1]) == rows[len(rows)-1].to)
	there := 0
	// OFFSET 0 makes the planner look rows up one by one, by their keys: otherwise it
	// may scan a table that has only just begun to grow.
	err = q.Query(`SELECT `+columns.Event+`, k, coalesce(s.id, ''), s.n IS NOT NULL OR coalesce(e.seq <= t.upto, false), e.amends,
			coalesce((SELECT o.kind FROM events o WHERE o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends), ''), total
		FROM (SELECT w.k, e.*, count(*) OVER () AS total, sum(octet_length(e.payload)) OVER (ORDER BY w.k, e.seq) - octet_length(e.payload) AS size
			FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY w (user_id, n, low, high, k)
			CROSS JOIN LATERAL (SELECT x.user_id, x.n, x.seq, x.at, x.kind, x.client, x.payload, x.turn, x.prev, x.piece, x.amends, x.sum, x.hash, x.role FROM events x WHERE x.user_id = w.user_id AND x.n = w.n AND x.seq > w.low AND x.seq <= w.high OFFSET 0) e) e
		LEFT JOIN LATERAL (SELECT x.id, x.n FROM sessions x WHERE x.user_id = e.user_id AND x.n = e.n OFFSET 0) s ON true
		LEFT JOIN LATERAL (SELECT x.upto FROM reparented x WHERE x.user_id = e.user_id AND x.n = e.n OFFSET 0) t ON true
		WHERE e.size < $5 ORDER BY e.k, e.seq`, []any{users, sessions, from, to, bytes}, func(r wire.Row) error {
		if err := q.Hold(r); err != nil {
			return err
		}
		var k int
		var x journaled
		e, _, err := columns.ScanEvent(r, &k, &x.id, &x.kept, &x.amends, &x.aimed, &there)
		if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
			e, x.damaged, err = bad.Placeholder(), true, nil // one damaged event must not block all that follow
		}
		if err != nil {
			return err
		}
		of := rows[k-1]
		x.Event, x.position, x.user, x.session = e, position{of.xid, of.ordinal, e.Seq}, of.user, of.session
		page = append(page, x)
		return nil
	})
	return page, whole && len(page) == there, err
}

// through returns the position after the first most events of rows, which are those
// that eventsOf reads.
func through(rows []journalRow, most int) position {
	n := 0
	for _, x := range rows {
		if n += int(x.to - x.from); n >= most {
			return position{x.xid, x.ordinal, x.to - skein.Seq(n-most)}
		}
	}
	last := rows[len(rows)-1]
	return position{last.xid, last.ordinal, last.to}
}
