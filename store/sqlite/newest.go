package sqlite

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// Newest implements [skein.Store]; see [walk.Newest].
func (s *reads) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (entries []skein.Entry, err error) {
	defer skein.Wrapf(&err, "sqlite: newest %d messages of %s", n, id)
	err = s.read(ctx, func(c *engine.Conn) error {
		x, err := s.extent(c, id)
		if err == nil && n > 0 {
			entries, err = walk.Newest(eventlog.New(s.pack, c, room.Of(ctx)), x, n, before)
		}
		return err
	})
	return entries, err
}

// extent returns where to find the events of a session that the view may see.
func (s *reads) extent(c *engine.Conn, id skein.SessionID) (x walk.Extent, err error) {
	h, err := s.head(c, id)
	if err == nil {
		err = columns.WaitIfLarge(c, &h)
	}
	if err != nil {
		return x, err
	}
	segs, err := eventlog.Segments(c, h.N, h.Last)
	return walk.Extent{Segments: segs, Last: h.Last, Said: h.Said}, err
}

// queries are queries for the events of segments; the other types are queries by
// their subject.
type ()
