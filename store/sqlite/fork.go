package sqlite

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// segments returns the pieces of what session n shows up to last, its own
// first, so newest first.
func (c *conn) segments(n int64, last skein.Seq) (segs walk.Segments, err error) {
	segs = walk.Segments{{Session: n, From: 0, To: last}}
	for {
		var base, upto int64
		found, err := c.one(`SELECT base, upto FROM bases WHERE session = ?`, []any{segs[len(segs)-1].Session}, &base, &upto)
		if err != nil || !found {
			return segs, err
		}
		segs = segs.Base(base, skein.Seq(upto))
	}
}

// segments of a session's head saves the look where there is no parent.
func (t *tx) segments(h *head) (walk.Segments, error) {
	if h.Base == 0 {
		return walk.Segments{{Session: h.n, From: 0, To: h.Last}}, nil
	}
	return t.conn.segments(h.n, h.Last)
}
