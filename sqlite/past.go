package sqlite

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// Settings implements [walk.PastLog].
func (w walker) Settings(segs walk.Segments) ([]skein.Event, error) {
	return w.readable(segs, `INDEXED BY events_settings WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('created', 'changed') ORDER BY e.seq`)
}
