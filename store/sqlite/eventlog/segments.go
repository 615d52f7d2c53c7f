package eventlog

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Segments returns the segments of what session n shows up to last, the newest
// first: its own, then those of its parents. The error is the driver's.
func Segments(c *engine.Conn, n int64, last skein.Seq) (segs walk.Segments, err error) {
	segs = walk.Segments{{Session: n, From: 0, To: last}}
	for {
		var base, upto int64
		found, err := c.One(`SELECT base, upto FROM bases WHERE session = ?`, []any{segs[len(segs)-1].Session}, &base, &upto)
		if err != nil || !found {
			return segs, err
		}
		segs = segs.Base(base, skein.Seq(upto))
	}
}

// IDs returns the IDs of the first and the last event of a segment, whose IDs
// are in the order of its seqs; 0 and -1 if it has no events. The error is
// the driver's.
func IDs(c *engine.Conn, seg walk.Segment) (first, last int64, err error) {
	const q = `SELECT id FROM events WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq `
	first, last = 0, -1
	for _, end := range []struct {
		order string
		id    *int64
	}{{"", &first}, {"DESC", &last}} {
		if _, err := c.One(q+end.order+" LIMIT 1", []any{seg.Session, int64(seg.From), int64(seg.To)}, end.id); err != nil {
			return 0, -1, err
		}
	}
	return first, last, nil
}
