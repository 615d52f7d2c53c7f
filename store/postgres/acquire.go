package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein/internal/sleep"
)

// codeTooMany is PostgreSQL's word for a server, a database or a role that has
// as many connections as it may.
const codeTooMany = "53300"

// roomFor is how long it is waited for room for a connection.
const roomFor = 20 * time.Second

// acquire returns a connection of the pool. The server may have no room for as
// many as the pool may: then it is waited until one of those that there are is
// free, or others have given theirs up.
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
