package postgres

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// A spot is a place in the journal: behind the event at seq of the row with
// this ordinal of this transaction. Ordinal -1 is before the first row.
type spot struct {
	xid     uint64
	ordinal int32
	seq     skein.Seq
}

// A stored is a row of the journal, or what is left of it behind a spot: events
// after from, up to and with to.
type stored struct {
	xid      uint64
	ordinal  int32
	user     string
	session  int64
	from, to skein.Seq
}

// journalEdge is the number of a transaction below which there is none that
// still runs: what is behind it may be passed by what is yet to come.
const journalEdge = `pg_snapshot_xmin(pg_current_snapshot())`

// journal returns the next rows before the edge, at most so many, after a
// bookmark, and the spot behind them; not those that its snapshot has, if there
// is one. If the view is one user's they are that user's. waiting says that there
// are rows behind the edge, and line on which timeline they were read.
func (q *conn) journal(at bookmark, most int) (rows []stored, end spot, waiting bool, line int32, err error) {
	mine, args := q.mine([]any{at.xid, at.ordinal, most})
	if at.seen != "" {
		args = append(args, at.seen)
		mine += fmt.Sprintf(" AND NOT pg_visible_in_snapshot(j.xid, $%d::pg_snapshot)", len(args))
	}
	n := 0
	p := q.pipe()
	p.query(`SELECT j.xid, j.ordinal, j.user_id, j.n, j.after, j.upto FROM journal j
		WHERE (j.xid, j.ordinal) >= ($1::xid8, $2::int) AND j.xid < `+journalEdge+mine+` ORDER BY j.xid, j.ordinal LIMIT $3`, args, func(r row) error {
		var x stored
		if err := r.Scan(&x.xid, &x.ordinal, &x.user, &x.session, &x.from, &x.to); err != nil {
			return err
		}
		n++
		end = spot{x.xid, x.ordinal, x.to}
		if x.xid == at.xid && x.ordinal == at.ordinal {
			x.from = max(x.from, at.seq)
		}
		if x.from < x.to {
			rows = append(rows, x)
		}
		return nil
	})
	edge := spot{ordinal: -1}
	p.edge(&edge.xid, &waiting)
	p.line(&line)
	if err := p.run(); err != nil {
		return nil, at.spot, false, 0, err
	}
	if n < most {
		end = edge
	}
	if end.before(at.spot) {
		end = at.spot
	}
	return rows, end, waiting, line, nil
}

// mine returns a condition on the journal j for the view, and args with what it
// needs.
func (q *conn) mine(args []any) (string, []any) {
	if q.s.user == "" {
		return "", args
	}
	return fmt.Sprintf(" AND j.user_id = $%d", len(args)+1), append(args, string(q.s.user))
}

// edge adds a look for the edge, and whether there are rows behind it.
func (p *pipe) edge(xid *uint64, waiting *bool) {
	mine, args := p.q.mine(nil)
	p.one(nil, `SELECT `+journalEdge+`, EXISTS (SELECT FROM journal j WHERE j.xid >= `+journalEdge+mine+`)`, args, xid, waiting)
}

// before reports whether a stands before b.
func (a spot) before(b spot) bool {
	switch {
	case a.xid != b.xid:
		return a.xid < b.xid
	case a.ordinal != b.ordinal:
		return a.ordinal < b.ordinal
	}
	return a.seq < b.seq
}

// A journaled is an event with where it is in the journal.
type journaled struct {
	skein.Event
	spot
	user    string
	session int64
	id      skein.SessionID // of the session; "" if that was deleted
	kept    bool            // the session, or some fork, still shows it
	amends  *int64          // of an amended event: the seq of the one that it is about
	aimed   skein.Kind      // and its kind
}

// eventsOf returns the first of the events of rows, no more than so many, nor so
// many bytes of payload, but at least one. all says that it is all of them.
func (q *conn) eventsOf(rows []stored, most, bytes int) (page []journaled, all bool, err error) {
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
	err = q.query(`SELECT `+eventColumns+`, k, coalesce(s.id, ''), s.n IS NOT NULL OR coalesce(e.seq <= t.upto, false), e.amends,
			coalesce((SELECT o.kind FROM events o WHERE o.user_id = e.user_id AND o.n = e.n AND o.seq = e.amends), ''), total
		FROM (SELECT w.k, e.*, count(*) OVER () AS total, sum(octet_length(e.payload)) OVER (ORDER BY w.k, e.seq) - octet_length(e.payload) AS size
			FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY w (user_id, n, low, high, k)
			JOIN events e ON e.user_id = w.user_id AND e.n = w.n AND e.seq > w.low AND e.seq <= w.high) e
		LEFT JOIN sessions s ON s.user_id = e.user_id AND s.n = e.n
		LEFT JOIN strands t ON t.user_id = e.user_id AND t.n = e.n
		WHERE e.size < $5 ORDER BY e.k, e.seq`, []any{users, sessions, from, to, bytes}, func(r row) error {
		var k int
		var x journaled
		e, _, err := scanEvent(r, &k, &x.id, &x.kept, &x.amends, &x.aimed, &there)
		if err != nil {
			return err
		}
		of := rows[k-1]
		x.Event, x.spot, x.user, x.session = e, spot{of.xid, of.ordinal, e.Seq}, of.user, of.session
		page = append(page, x)
		return nil
	})
	return page, whole && len(page) == there, err
}

// through returns the spot behind the first events of rows, so many as eventsOf
// looks for.
func through(rows []stored, most int) spot {
	n := 0
	for _, x := range rows {
		if n += int(x.to - x.from); n >= most {
			return spot{x.xid, x.ordinal, x.to - skein.Seq(n-most)}
		}
	}
	last := rows[len(rows)-1]
	return spot{last.xid, last.ordinal, last.to}
}
