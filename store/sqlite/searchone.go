package sqlite

import (
	"github.com/skein-dev/skein/internal/walk"
)

// A scanRange is events that are looked through one after the other, the newest
// first.
type scanRange struct {
	from        string
	place       string // the column that says where they are, in order
	after, last int64  // the places before the first and of the last one
	where       where  // besides the search's own conditions
}

// stretches returns what a scan goes through to find events after id upto. In
// the order of their places those of one session come without being sorted, so
// that the first are there at once; unless so few are left to look at that
// their IDs lead there sooner.
func (x *searcher) stretches(c *conn, upto int64) ([]scanRange, error) {
	var last int64
	if _, err := c.one(`SELECT coalesce(max(id), 0) FROM events`, nil, &last); err != nil {
		return nil, err
	}
	byID := scanRange{from: "events e", place: "e.id", after: upto, last: last}
	if x.shownIn == nil {
		return []scanRange{byID}, nil
	}
	byID.from = "events e NOT INDEXED"
	if upto > 0 && last-upto <= int64(x.shownIn.Last) {
		return []scanRange{byID}, nil
	}
	all := make([]scanRange, 0, len(x.segs))
	for _, seg := range x.segs {
		one := scanRange{from: "events e INDEXED BY events_by_seq", place: "e.seq", after: int64(seg.From), last: int64(seg.To)}
		one.where.add("e.session = ? AND e.id > ?", seg.Session, upto)
		all = append(all, one)
	}
	return all, nil
}

// ids returns the IDs of the first and the last event of a segment, which are
// in the order of its places; 0 and -1 if it has none.
func (c *conn) ids(seg walk.Segment) (first, last int64, err error) {
	const q = `SELECT id FROM events WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq `
	first, last = 0, -1
	for _, end := range []struct {
		order string
		id    *int64
	}{{"", &first}, {"DESC", &last}} {
		if _, err := c.one(q+end.order+" LIMIT 1", []any{seg.Session, int64(seg.From), int64(seg.To)}, end.id); err != nil {
			return 0, -1, err
		}
	}
	return first, last, nil
}
