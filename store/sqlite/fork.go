package sqlite

import (
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// headSegments is conn.segments, without a query if the session has no parent.
func headSegments(t *txn.Tx, h *columns.Head) (walk.Segments, error) {
	if h.Base == 0 {
		return walk.Segments{{Session: h.N, From: 0, To: h.Last}}, nil
	}
	return eventlog.Segments(t.Conn, h.N, h.Last)
}
