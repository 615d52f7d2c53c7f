package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// A bookmark is how far a feed has read: a position on a timeline. If the feed began
// at the end of what was stored while older transactions still ran, it also has the
// snapshot of that moment: rows visible in the snapshot must not come again.
type bookmark struct {
	position
	line int32  // timeline of the server when the bookmark was read; 0 if unknown
	seen string // the snapshot as PostgreSQL writes it; "" without one
}

// at returns the bookmark moved to a position. It drops the snapshot if the position
// is past all transactions that the snapshot covers.
func (b bookmark) at(s position) bookmark {
	if _, rest, ok := strings.Cut(b.seen, ":"); ok {
		xmax, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.ParseUint(xmax, 10, 64); err == nil && s.xid >= n {
			b.seen = ""
		}
	}
	b.position = s
	return b
}

// cursor returns b as a cursor: the name of the cluster, "-", timeline,
// transaction, ordinal, and seq, and "-" and the snapshot if it has one.
func (b bookmark) cursor(cluster string) skein.Cursor {
	c := fmt.Sprintf("%s-%d.%d.%d.%d", cluster, b.line, b.xid, b.ordinal+1, b.seq)
	if b.seen != "" {
		c += "-" + b.seen
	}
	return skein.Cursor(c)
}

// maxSnapshot is the longest snapshot that a cursor may have, in bytes.
const maxSnapshot = 16 << 10

// bookmarkOf returns the bookmark of a cursor.
//
// The error wraps [skein.ErrInvalid] if it is not a cursor of this cluster.
func bookmarkOf(c skein.Cursor, cluster string) (b bookmark, err error) {
	b.ordinal = -1
	if c == "" || c == skein.FeedNow {
		return b, nil
	}
	name, rest, _ := strings.Cut(string(c), "-")
	place, seen, _ := strings.Cut(rest, "-")
	if _, err = fmt.Sscanf(place, "%d.%d.%d.%d", &b.line, &b.xid, &b.ordinal, &b.seq); err == nil {
		b.ordinal--
		b.seen = seen
	}
	form := regexp.MustCompile(`^([0-9]{1,19}:[0-9]{1,19}:[0-9,]*)?$`)
	switch {
	case err != nil || len(seen) > maxSnapshot || b.ordinal < -1 || b.seq < 0 || b.line < 0 || b.cursor(name) != c || !form.MatchString(seen):
		return b, fmt.Errorf("cursor %.80q: %w", c, skein.ErrInvalid)
	case name != cluster:
		return b, fmt.Errorf("cursor %.80q: from another database: %w", c, skein.ErrInvalid)
	}
	return b, nil
}

// A standby that takes over without everything that was committed reuses the IDs of
// the transactions that it never saw. It also begins a new timeline of the write-ahead
// log. So each row of the journal says on which timeline it was written, and a
// bookmark on which one it was read.

// line adds a query for the timeline; 0 if it is unknown, as on a standby.
func (p *pipe) line(line *int32) {
	p.One(nil, `SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE timeline() END`, nil, line)
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
	p.One(nil, `SELECT `+journalEdge, nil, &edge.xid)
	p.One(&since, `SELECT 1 FROM (SELECT line FROM journal WHERE (xid, ordinal) <= ($1::xid8, $2::int) ORDER BY xid DESC, ordinal DESC LIMIT 1) j WHERE line > $3`,
		[]any{at.xid, at.ordinal, at.line}, new(int32))
	p.One(nil, `SELECT xid, ordinal, upto FROM journal WHERE (xid, ordinal) <= ($1::xid8, $2::int) AND line <= $3 ORDER BY xid DESC, ordinal DESC LIMIT 1`,
		[]any{at.xid, at.ordinal, at.line}, &old.xid, &old.ordinal, &old.to)
	if err := p.Run(); err != nil {
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
