package postgres

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// A standby that takes over without everything that was committed reuses the IDs of
// the transactions that it never saw. It also begins a new timeline of the write-ahead
// log. So each row of the journal says on which timeline it was written, and a
// bookmark on which one it was read.

// line adds a query for the timeline; 0 if it is unknown, as on a standby.
func (p *pipe) line(line *int32) {
	p.one(nil, `SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE timeline() END`, nil, line)
}

// turn moves a bookmark that was read on an earlier timeline to this one: to before the
// first row written since, if there are such rows before the bookmark; else it stays,
// but not after rows that may still be written. Events that it had seen and that were
// lost do not come again; those that replaced them do.
//
// The error wraps [skein.ErrInvalid] if the server is on an earlier timeline: then it
// lacks what the bookmark has seen since.
func (q *conn) turn(at *bookmark, line int32) error {
	if at.line > line {
		return fmt.Errorf("cursor of timeline %d, but the server is on %d: a standby took over, or the database was restored: %w; start again from the beginning or from now",
			at.line, line, skein.ErrInvalid)
	}
	if at.line == 0 {
		at.line = line
		return nil
	}
	edge := position{ordinal: -1}
	var old journalRow // the last row that the bookmark may have seen
	var since bool     // there are rows of newer timelines before the bookmark
	p := q.pipe()
	p.one(nil, `SELECT `+journalEdge, nil, &edge.xid)
	p.one(&since, `SELECT 1 FROM (SELECT line FROM journal WHERE (xid, ordinal) <= ($1::xid8, $2::int) ORDER BY xid DESC, ordinal DESC LIMIT 1) j WHERE line > $3`,
		[]any{at.xid, at.ordinal, at.line}, new(int32))
	p.one(nil, `SELECT xid, ordinal, upto FROM journal WHERE (xid, ordinal) <= ($1::xid8, $2::int) AND line <= $3 ORDER BY xid DESC, ordinal DESC LIMIT 1`,
		[]any{at.xid, at.ordinal, at.line}, &old.xid, &old.ordinal, &old.to)
	if err := p.run(); err != nil {
		return err
	}
	switch {
	case since && old.xid == 0:
		at.position = position{ordinal: -1}
	case since:
		at.position = position{old.xid, old.ordinal, old.to}
	}
	if edge.before(at.position) {
		at.position = edge
	}
	// The IDs in a snapshot may now be those of other transactions: it is better to
	// yield an event twice than not at all.
	at.line, at.seen = line, ""
	return nil
}
