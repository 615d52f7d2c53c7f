package sqlite

import (
	"github.com/skein-dev/skein/internal/walk"
)

// A stretch is events that are looked through one after the other, the newest
// first.
type stretch struct {
	from, order string
	where       where // besides the search's own conditions
}

// stretches returns what a scan goes through to find events after id upto. In
// the order of their places those of one session come without being sorted, so
// that the first are there at once; unless so few are left to look at that
// their IDs lead there sooner.
func (x *search) stretches(c *conn, upto int64) ([]stretch, error) {
	byID := stretch{from: "events e", order: "e.id"}
	byID.where.add("e.id > ?", upto)
	if x.shownIn == nil {
		return []stretch{byID}, nil
	}
	byID.from = "events e NOT INDEXED"
	var last int64
	if _, err := c.one(`SELECT coalesce(max(id), 0) FROM events`, nil, &last); err != nil {
		return nil, err
	}
	if upto > 0 && last-upto <= int64(x.shownIn.Last) {
		return []stretch{byID}, nil
	}
	all := make([]stretch, 0, len(x.segs))
	for _, seg := range x.segs {
		one := stretch{from: "events e INDEXED BY events_by_seq", order: "e.seq"}
		one.where.add("e.session = ? AND e.seq > ? AND e.seq <= ? AND e.id > ?", seg.Session, int64(seg.From), int64(seg.To), upto)
		all = append(all, one)
	}
	return all, nil
}

// recentWithin finds the newest rows of one session. They lie between its first
// and its last in the index, which goes by IDs.
func (x *search) recentWithin(c *conn, expr string) error {
	q := `SELECT ` + hitColumns + `, 0.0, 0 FROM words m CROSS JOIN events e ON e.id = m.rowid` + x.owners + x.where.sql() + `
		AND words MATCH ? AND m.rowid BETWEEN ? AND ? ORDER BY m.rowid DESC LIMIT ?`
	limit := x.limit
	if !x.q.Each {
		limit = recentMatches
	}
	_, err := x.limited(c, x.until, func() error {
		for _, seg := range x.segs {
			first, last, err := c.ids(seg)
			if err != nil || len(x.hits) >= limit {
				return err
			}
			args := append(append([]any{}, x.where.args...), expr, first, last, limit-len(x.hits))
			if err := x.gather(c, q, expr, args); err != nil {
				return err
			}
		}
		return nil
	})
	return err
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
