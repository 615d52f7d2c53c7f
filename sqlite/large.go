package sqlite

import (
	"context"
	"errors"

	"github.com/skein-dev/skein/internal/room"
)

// What is long is in memory, twice, before it is known how long it is. So those
// who share a [room.Room] read large sessions few at once.
const (
	largeFrom   = 8 << 20 // bytes of a session that may have something long
	largeAtOnce = 2
)

// errLarge says that a read has to wait for its turn.
var errLarge = errors.New("large sessions are read few at once")

type turnKey struct{}

// turn returns errLarge if what is read may be long, for one who shares a room and
// has no turn.
func (c *conn) turn() error {
	if room.Of(c.ctx) == nil || c.ctx.Value(turnKey{}) != nil {
		return nil
	}
	return errLarge
}

// large is turn for a session.
func (c *conn) large(h *head) error {
	if h.bytes < largeFrom && h.Parent == nil { // nobody knows how much it shows of the parent
		return nil
	}
	return c.turn()
}

// read runs f with a connection that reads one state of the file. It may run f
// again, if that has to wait: for its turn, or for room.
func (c *core) read(ctx context.Context, f func(*conn) error) error {
	leave, err := c.enter()
	if err != nil {
		return err
	}
	defer leave()
	share := room.Of(ctx)
	was := share.Used()
	err = c.readers.with(ctx, f)
	if errors.Is(err, errLarge) {
		err = c.readLarge(ctx, f)
	}
	for errors.Is(err, room.ErrFull) {
		if err := share.Again(ctx, was); err != nil { // without a connection and a turn, which others need
			return err
		}
		err = c.readLarge(ctx, f)
	}
	return err
}

func (c *core) readLarge(ctx context.Context, f func(*conn) error) error {
	select {
	case c.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.turns }()
	return c.readers.with(context.WithValue(ctx, turnKey{}, true), f)
}
