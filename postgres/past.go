package postgres

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// Settings implements [walk.PastLog].
func (w *walker) Settings(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.pipe()
	w.events(p, segs, &events, `e.kind IN ('created', 'changed') ORDER BY e.seq`)
	return events, p.run()
}

// Begin implements [walk.PastLog]. The server halves the way at each step.
func (w *walker) Begin(seg walk.Segment, turn int) (at skein.Seq, err error) {
	_, err = w.q.one(`WITH RECURSIVE h (before, at) AS ( -- the places that are known to be before it, and not
			SELECT $3::bigint, $4::bigint + 1
			UNION ALL
			SELECT CASE WHEN e.turn < $5 THEN e.seq ELSE h.before END, CASE WHEN e.turn < $5 THEN h.at ELSE e.seq END
			FROM h JOIN events e ON e.user_id = $1 AND e.n = $2 AND e.seq = h.before + (h.at - h.before) / 2
			WHERE h.at - h.before > 1)
		SELECT at FROM h WHERE at - before = 1 AND at <= $4`,
		[]any{string(w.user), seg.Session, int64(seg.From), int64(seg.To), turn}, &at)
	return at, err
}
