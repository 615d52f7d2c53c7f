package sqlite

import (
	"context"

	"github.com/skein-dev/skein/store/sqlite/engine"
)

// Of the readers that share a [room.Room], only a few read large sessions at once.
const largeAtOnce = 2

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
