package sqlite

import (
	"github.com/skein-dev/skein"
)

// A segment is a piece of what a session shows: the events after from, up to
// and with to, of session number session.
type segment struct {
	session  int64
	from, to skein.Seq
}

// segments returns the pieces of what session n shows up to last, its own
// first, so newest first.
func (c *conn) segments(n int64, last skein.Seq) (segs []segment, err error) {
	segs = []segment{{n, 0, last}}
	for {
		own := &segs[len(segs)-1]
		var base, upto int64
		found, err := c.one(`SELECT base, upto FROM bases WHERE session = ?`, []any{own.session}, &base, &upto)
		if err != nil || !found {
			return segs, err
		}
		if own.from = min(skein.Seq(upto), own.to); own.from == own.to && len(segs) > 1 {
			own.session = base // of this one nothing is shown
			own.from = 0
			continue
		}
		segs = append(segs, segment{base, 0, own.from})
	}
}

// segments of a session's head saves the look where there is no parent.
func (t *tx) segments(h *head) ([]segment, error) {
	if h.Base == 0 {
		return []segment{{h.n, 0, h.Last}}, nil
	}
	return t.conn.segments(h.n, h.Last)
}
