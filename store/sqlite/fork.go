package sqlite

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// segments returns the segments of what session n shows up to last, the newest
// first: its own, then those of its parents.
func segments(c *engine.Conn, n int64, last skein.Seq) (segs walk.Segments, err error) {
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

// headSegments is conn.segments, without a query if the session has no parent.
func headSegments(t *tx, h *head) (walk.Segments, error) {
	if h.Base == 0 {
		return walk.Segments{{Session: h.n, From: 0, To: h.Last}}, nil
	}
	return segments(t.Conn, h.n, h.Last)
}
