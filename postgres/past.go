package postgres

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// Settings implements [walk.PastLog].
func (w *walker) Settings(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.pipe()
	w.readable(p, segs, &events, `e.kind IN ('created', 'changed') ORDER BY e.seq`)
	return events, p.run()
}
