package postgres

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// A standby that takes over without having all that was committed gives the
// numbers of the transactions that it never saw to others. So a journal's row
// says on which timeline of the server's log it was written, which is a new one
// then, and a bookmark on which one it was read.

// line adds a look for the timeline: 0 where it is not known, as at a standby.
func (p *pipe) line(line *int32) {
	p.one(nil, `SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE timeline() END`, nil, line)
}

// turn puts a bookmark that was read on an earlier timeline onto this one: before
// the first row that was written since, if there are such where it has been
// already, else where it is, but not behind what may still be written. What it
// had seen and was lost does not come again; what takes the place of that does.
//
// The error wraps [skein.ErrInvalid] if the server is on an earlier timeline: what
// the bookmark has seen since is not here.
func (q *conn) turn(at *bookmark, line int32) error {
	if at.line > line {
		return fmt.Errorf("cursor of timeline %d, but this server is on %d: another one has taken over from it, or it was set back: %w; begin anew, or go on from now on",
			at.line, line, skein.ErrInvalid)
	}
	if at.line == 0 {
		at.line = line
		return nil
	}
	edge := position{ordinal: -1}
	var old journalRow // the last row that it may have seen
	var since bool     // there are newer ones before it
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
	// A snapshot has numbers that may be others' now: better twice than not at all.
	at.line, at.seen = line, ""
	return nil
}
