package sqlite

import (
	"context"
	"runtime/debug"

	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Of the readers that share a [room.Room], only a few read large sessions at once.
const (
	largeFrom   = 8 << 20 // bytes of a session that may have something long
	largeAtOnce = 2
)

// waitIfLarge returns what [room.Turn] does if a session may have something long.
func waitIfLarge(c *engine.Conn, h *head) error {
	if h.bytes < largeFrom && h.Parent == nil { // how much it shows of the parent is not known
		return nil
	}
	return room.Turn(c.Context())
}

// collectFor collects garbage, and returns its memory to the system, before SQLite
// processes a value of n bytes, if that is long: SQLite copies it several times, in
// memory that the garbage collector does not count.
func collectFor(n int64) {
	if n >= largeFrom {
		debug.FreeOSMemory()
	}
}

// read runs f with a connection that reads one state of the file. It may run f
// again after waiting for its turn, or for room.
func (c *core) read(ctx context.Context, f func(*engine.Conn) error) error {
	leave, err := c.enter()
	if err != nil {
		return err
	}
	defer leave()
	return c.turns.Read(ctx, func(ctx context.Context) error { return c.readers.Read(ctx, f) })
}
