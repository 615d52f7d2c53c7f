package postgres

import (
	"context"

	"github.com/skein-dev/skein/store/postgres/wire"
)

// A conn is a connection with the queries of this package, each of which is one or more
// round trips. A pipe has those that share one.
type (
	conn struct{ *wire.Conn }
	pipe struct{ *wire.Pipe }
)

func (q *conn) pipe() *pipe { return &pipe{q.Pipe()} }

// A tx is a transaction that writes for a view.
type tx struct {
	*conn
	txn *wire.Tx
	s   *view
}

// principal returns the view's access to the database.
func (s *view) principal() wire.Principal {
	return wire.Principal{Connections: s.pool, User: s.user, Enter: s.enter}
}

// read is [wire.Principal.Read].
func (s *view) read(ctx context.Context, f func(*conn) error) error {
	return s.principal().Read(ctx, func(q *wire.Conn) error { return f(&conn{q}) })
}

// once is [wire.Principal.Once].
func (s *view) once(ctx context.Context, f func(*conn) error) error {
	return s.principal().Once(ctx, func(q *wire.Conn) error { return f(&conn{q}) })
}

// follow is [wire.Principal.Follow].
func (s *view) follow(ctx context.Context, f func(*conn) error) error {
	return s.principal().Follow(ctx, func(q *wire.Conn) error { return f(&conn{q}) })
}

// ask is [wire.Principal.Ask].
func (s *view) ask(ctx context.Context, sql string, args []any, f func(wire.Row) error) error {
	return s.principal().Ask(ctx, sql, args, f)
}

// write is [wire.Principal.Write].
func (s *view) write(ctx context.Context, f func(*tx) error) error {
	return s.principal().Write(ctx, func(t *wire.Tx) error { return f(s.tx(t)) })
}

// tryWrite is [wire.Principal.TryWrite].
func (s *view) tryWrite(ctx context.Context, f func(*tx) error) error {
	return s.principal().TryWrite(ctx, func(t *wire.Tx) error { return f(s.tx(t)) })
}

func (s *view) tx(t *wire.Tx) *tx { return &tx{&conn{t.Conn}, t, s} }
