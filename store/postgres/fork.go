package postgres

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// segments returns the segments that the session h shows up to upto, its own first,
// so newest first. At h.Base and before, its own segment is empty.
func (q *conn) segments(h *head, upto skein.Seq) (segs walk.Segments, err error) {
	if h.Base == 0 {
		return walk.Segments{{Session: h.n, From: 0, To: upto}}, nil
	}
	return q.segmentsOf(h.User, h.n, upto)
}

// segmentsOf is segments for session number n of a user.
func (q *conn) segmentsOf(user skein.User, n int64, upto skein.Seq) (segs walk.Segments, err error) {
	segs = walk.Segments{{Session: n, From: 0, To: upto}}
	err = q.query(`WITH RECURSIVE b (base, upto, depth) AS (
			SELECT base, upto, 1 FROM bases WHERE user_id = $1 AND n = $2
			UNION ALL SELECT x.base, x.upto, b.depth + 1 FROM b JOIN bases x ON x.user_id = $1 AND x.n = b.base)
		SELECT base, upto FROM b ORDER BY depth`, []any{string(user), n}, func(r row) error {
		var base int64
		var at skein.Seq
		if err := r.Scan(&base, &at); err != nil {
			return err
		}
		segs = segs.Base(base, at)
		return nil
	})
	return segs, err
}
