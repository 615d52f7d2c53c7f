package postgres

import (
	"slices"

	"github.com/skein-dev/skein"
)

// A segment is a piece of what a session shows: the events after from, up to
// and with to, of session number session.
type segment struct {
	session  int64
	from, to skein.Seq
}

// segments returns the pieces of what the session h shows up to a place, its
// own first, so newest first. At h.Base and before, its own piece is empty.
func (q *conn) segments(h *head, upto skein.Seq) (segs []segment, err error) {
	if h.Base == 0 {
		return []segment{{h.n, 0, upto}}, nil
	}
	return q.segmentsOf(h.User, h.n, upto)
}

// segmentsOf is segments for session number n of a user.
func (q *conn) segmentsOf(user skein.User, n int64, upto skein.Seq) (segs []segment, err error) {
	segs = []segment{{n, 0, upto}}
	err = q.query(`WITH RECURSIVE b (base, upto, depth) AS (
			SELECT base, upto, 1 FROM bases WHERE user_id = $1 AND n = $2
			UNION ALL SELECT x.base, x.upto, b.depth + 1 FROM b JOIN bases x ON x.user_id = $1 AND x.n = b.base)
		SELECT base, upto FROM b ORDER BY depth`, []any{string(user), n}, func(r row) error {
		var base int64
		var at skein.Seq
		if err := r.Scan(&base, &at); err != nil {
			return err
		}
		own := &segs[len(segs)-1]
		if own.from = min(at, own.to); own.from == own.to && len(segs) > 1 {
			own.session, own.from = base, 0 // of this one nothing is shown
			return nil
		}
		segs = append(segs, segment{base, 0, own.from})
		return nil
	})
	return segs, err
}

// inSegment returns the piece of segs that has the event at seq.
func inSegment(segs []segment, seq skein.Seq) segment {
	i := slices.IndexFunc(segs, func(s segment) bool { return seq > s.from })
	return segs[max(i, 0)]
}

func isFork(c *skein.Created) bool { return c.Parent != nil && c.Parent.Why == skein.Fork }
