package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
)

type pgTag = pgconn.CommandTag

// ownTime limits what the caller's ctx does not stop: a commit, a rollback.
const ownTime = 30 * time.Second

// maxTries is how often a transaction that conflicts with others is tried.
const maxTries = 1000

// errMoved says that a session has changed since the transaction read it; write then
// runs the whole transaction again.
var errMoved = errors.New("session has changed meanwhile")

// A tx is a transaction that writes.
type tx struct {
	*conn
	now   skein.Time // when this try began, by this process's clock
	after []func()   // run after the commit
}

// write runs f in a transaction; nil means that it was committed. If the transaction
// conflicts with others, f is run again, each time in a new transaction.
// The error wraps [skein.ErrUnknown] if the connection was lost in the commit.
//
// In the journal, the rows of one session must be in the order of its events. So
// whatever f reads of a session to change its row in heads, it must read before it
// writes anything.
func (s *view) write(ctx context.Context, f func(*tx) error) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	for try := 1; ; try++ {
		err := s.tryWrite(ctx, f)
		if !again(err) || try == maxTries || ctx.Err() != nil {
			return classify(err)
		}
	}
}

// tryWrite is one try of write.
func (s *view) tryWrite(ctx context.Context, f func(*tx) error) error {
	pg, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer pg.Release()
	t := &tx{conn: &conn{ctx: ctx, pg: pg, s: s, begin: beginWrite, set: setWriter}, now: skein.At(time.Now())}
	if err := f(t); err != nil {
		t.rollback()
		return err
	}
	if !t.begun {
		return nil
	}
	if err := ctx.Err(); err != nil {
		t.rollback()
		return err
	}
	if err := t.commit(); err != nil {
		return err
	}
	for _, f := range t.after {
		f()
	}
	return nil
}

// commit ends the transaction. From here on, the caller's ctx has no effect.
func (t *tx) commit() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), ownTime)
	defer cancel()
	tag, err := t.pg.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		return errors.New("transaction was rolled back")
	}
	return classifyCommit(err)
}
