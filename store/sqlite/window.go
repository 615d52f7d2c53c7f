package sqlite

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// Window implements [skein.Store]; see [walk.Window].
func (s *reads) Window(ctx context.Context, id skein.SessionID, n int) (events []skein.Event, err error) {
	defer skein.Wrapf(&err, "sqlite: window of %s", id)
	if n < 1 {
		return walk.All(room.Kept(ctx, s.Events(ctx, id, 0), func(e skein.Event) int { return len(e.Payload) }))
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		x, err := s.extent(c, id)
		if err == nil {
			events, err = walk.Window(eventlog.New(s.pack, c, room.Of(ctx)), x, n)
		}
		return err
	})
	return events, err
}
