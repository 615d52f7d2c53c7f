package sqlite

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// Settings implements [walk.PastLog].
func (w walker) Settings(segs walk.Segments) ([]skein.Event, error) {
	return w.events(segs, `INDEXED BY events_settings WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('created', 'changed') ORDER BY e.seq`)
}

// Begin implements [walk.PastLog].
func (w walker) Begin(seg walk.Segment, turn int) (skein.Seq, error) {
	before, at := seg.From, seg.To+1 // the places that are known to be before it, and not
	for at-before > 1 {
		mid := before + (at-before)/2
		var n int64
		found, err := w.conn.one(`SELECT turn FROM events WHERE session = ? AND seq = ?`, []any{seg.Session, int64(mid)}, &n)
		switch {
		case err != nil:
			return 0, err
		case !found:
			return 0, fmt.Errorf("event %d: %w", mid, skein.ErrCorrupt)
		case n < int64(turn):
			before = mid
		default:
			at = mid
		}
	}
	if at > seg.To {
		return 0, nil
	}
	return at, nil
}
