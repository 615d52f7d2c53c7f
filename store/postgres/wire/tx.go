package wire

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein"
)

// OwnTime limits what the caller's ctx does not stop: a commit, a rollback.
const OwnTime = 30 * time.Second

// MaxTries is how often a transaction that conflicts with others is tried.
const MaxTries = 1000

// ErrMoved says that a session has changed since the transaction read it; Write then
// runs the whole transaction again.
var ErrMoved = errors.New("session has changed meanwhile")

// A Tx is a transaction that writes.
type Tx struct {
	*Conn
	Now   skein.Time // when this try began, by this process's clock
	after []func()
}

// After runs f after the commit.
func (t *Tx) After(f func()) { t.after = append(t.after, f) }

// Write runs f in a transaction; nil means that it was committed. If the transaction
// conflicts with others, f is run again, each time in a new transaction.
// The error wraps [skein.ErrUnknown] if the connection was lost in the commit.
//
// In the journal, the rows of one session must be in the order of its events. So
// whatever f reads of a session to change its row in heads, it must read before it
// writes anything.
func (p Principal) Write(ctx context.Context, f func(*Tx) error) error {
	leave, err := p.Enter()
	if err != nil {
		return err
	}
	defer leave()
	for try := 1; ; try++ {
		err := p.TryWrite(ctx, f)
		if !Again(err) || try == MaxTries || ctx.Err() != nil {
			return Classify(err)
		}
	}
}

// TryWrite is one try of Write, for a call that has entered. The error is not classified.
func (p Principal) TryWrite(ctx context.Context, f func(*Tx) error) error {
	pg, err := p.Wait(ctx)
	if err != nil {
		return err
	}
	defer pg.Release()
	t := &Tx{Conn: &Conn{Ctx: ctx, User: p.User, pg: pg, pool: p.Connections, begin: beginWrite, set: setWriter}, Now: skein.At(time.Now())}
	if err := f(t); err != nil {
		t.Rollback()
		return err
	}
	if !t.begun {
		return nil
	}
	if err := ctx.Err(); err != nil {
		t.Rollback()
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
func (t *Tx) commit() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Ctx), OwnTime)
	defer cancel()
	tag, err := t.pg.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		return errors.New("transaction was rolled back")
	}
	return ClassifyCommit(err)
}
