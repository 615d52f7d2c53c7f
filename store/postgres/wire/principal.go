package wire

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// The most that one page reads. Between two pages, the caller runs, and neither a
// connection nor a lock is held.
const (
	PageRows  = 500
	PageBytes = 1 << 20
)

// A Principal reads and writes as one user, or as all users.
type Principal struct {
	*Connections
	User  skein.User
	Enter func() (leave func(), err error) // admits a call
}

// Read runs f on one snapshot of the database, in a short transaction. The error is
// classified, as are those of the other methods that run f.
func (p Principal) Read(ctx context.Context, f func(*Conn) error) error {
	return p.roomy(ctx, beginRead, f)
}

// Follow is Read for the journal: each statement sees what was committed before it.
// The error is as Read's.
func (p Principal) Follow(ctx context.Context, f func(*Conn) error) error {
	return p.roomy(ctx, beginFeed, f)
}

// roomy is with for reads that may need much memory. It may run f again if f has
// to wait for its turn or for room.
func (p Principal) roomy(ctx context.Context, begin string, f func(*Conn) error) error {
	return p.turns.Read(ctx, func(ctx context.Context) error {
		return p.with(ctx, begin, func(q *Conn) error {
			q.Share = room.Of(ctx)
			return f(q)
		})
	})
}

// Ask runs one statement by itself, in one round trip; f is called for each row
// of its result. The error is as Read's.
func (p Principal) Ask(ctx context.Context, sql string, args []any, f func(Row) error) error {
	return p.Once(ctx, func(q *Conn) error { return q.Query(sql, args, f) })
}

// Once runs f, which sends one pipe, without a transaction. The error is as Read's.
func (p Principal) Once(ctx context.Context, f func(*Conn) error) error { return p.with(ctx, "", f) }

// with runs f on a connection, in a transaction that is rolled back afterward.
func (p Principal) with(ctx context.Context, begin string, f func(*Conn) error) error {
	leave, err := p.Enter()
	if err != nil {
		return err
	}
	defer leave()
	pg, err := p.Wait(ctx)
	if err != nil {
		return Classify(err)
	}
	defer pg.Release()
	q := &Conn{Ctx: ctx, User: p.User, pg: pg, pool: p.Connections, begin: begin}
	err = Unstop(f(q))
	q.Rollback()
	return Classify(err)
}
