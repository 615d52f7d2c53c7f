package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein/internal/sleep"
)

// codeTooMany is PostgreSQL's code for a server, a database, or a role that has
// as many connections as it may have.
const codeTooMany = "53300"

// roomFor is how long acquire waits until the server accepts another connection.
const roomFor = 20 * time.Second

// acquire returns a connection of the pool. The server may allow fewer connections
// than the pool: then acquire waits until one of the pool's is free, or other
// clients have closed theirs.
func (c *core) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	wait := patienceA
	for began := time.Now(); ; wait = min(2*wait, patienceZ) {
		pg, err := c.pool.Acquire(ctx)
		if code(err) != codeTooMany || time.Since(began) > roomFor {
			return pg, err
		}
		if sleep.For(ctx, wait) != nil {
			return nil, err
		}
	}
}
