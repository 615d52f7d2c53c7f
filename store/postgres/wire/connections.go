package wire

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
)

// Connections are those of a store to its database.
type Connections struct {
	*pgxpool.Pool
	steps    schema.Steps
	beginPut string          // begins the transaction of the usual append; "" if it needs no BEGIN
	turns    *room.Semaphore // limits concurrent reads of large sessions
}

// largeAtOnce is how many large sessions readers that share a [room.Room] read at once.
const largeAtOnce = 2

// NewConnections returns a pool of connections to a database whose tables steps make. The error
// is that of the settings.
func NewConnections(ctx context.Context, cfg *pgxpool.Config, steps schema.Steps) (*Connections, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	return &Connections{Pool: pool, steps: steps, turns: room.NewSemaphore(largeAtOnce)}, err
}

// Prepare brings the database to the schema of this version; begins is called with that
// version before it does so.
//
// The error is that of [schema.CheckServer] and [schema.Steps.Migrate].
func (c *Connections) Prepare(ctx context.Context, begins func(version int)) error {
	pg, err := c.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pg.Release()
	isolation, err := schema.CheckServer(ctx, pg.Conn())
	if err != nil {
		return err
	}
	if isolation != "read committed" {
		c.beginPut = beginWrite
	}
	return c.steps.Migrate(ctx, pg.Conn(), func() { begins(c.steps.Version()) })
}

// roomFor is how long Wait waits until the server accepts another connection.
const roomFor = 20 * time.Second

const (
	firstPause = 20 * time.Millisecond
	lastPause  = 2 * time.Second
)

// Wait returns a connection of the pool. The server may allow fewer connections
// than the pool: then it waits until one of the pool's is free, or other
// clients have closed theirs. The error is the server's.
func (c *Connections) Wait(ctx context.Context) (*pgxpool.Conn, error) {
	wait := firstPause
	for began := time.Now(); ; wait = min(2*wait, lastPause) {
		pg, err := c.Pool.Acquire(ctx)
		if sqlstate.Of(err) != sqlstate.TooMany || time.Since(began) > roomFor {
			return pg, err
		}
		if sleep.For(ctx, wait) != nil {
			return nil, err
		}
	}
}

// Put returns a connection for the transaction of usual appends; the first is u's.
func (c *Connections) Put(ctx context.Context, pg *pgxpool.Conn, u skein.User) *Conn {
	return &Conn{Ctx: ctx, User: u, pg: pg, pool: c, begin: c.beginPut, set: SetPut}
}
