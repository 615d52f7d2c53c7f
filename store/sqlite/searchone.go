package sqlite

import "github.com/skein-dev/skein/store/sqlite/engine"

// A scanRange is a range of events that a scan goes through, the newest first.
type scanRange struct {
	from        string
	place       string       // the column that orders the events
	after, last int64        // the places before the first and of the last one
	where       engine.Where // in addition to the search's own conditions
}

// stretches returns the ranges in which a scan finds the events with IDs
// greater than upto. The events of one session are in the order of their seqs:
// they need no sorting, so the first arrive at once. If few events are left to
// look at, it goes by their IDs, which is faster.
func (x *searcher) stretches(c *engine.Conn, upto int64) ([]scanRange, error) {
	var last int64
	if _, err := c.One(`SELECT coalesce(max(id), 0) FROM events`, nil, &last); err != nil {
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
		one.where.Add("e.session = ? AND e.id > ?", seg.Session, upto)
		all = append(all, one)
	}
	return all, nil
}
