package room

import (
	"context"
	"errors"
)

// errTurn says that a read has to wait for its turn.
var errTurn = errors.New("what may be long is read few at once")

// Semaphore limits how many holders of a share read what may be long at once: it is
// in memory, twice, before its length is known.
type Semaphore struct{ now chan struct{} }

// NewSemaphore returns a semaphore for this many reads at once.
func NewSemaphore(atOnce int) *Semaphore { return &Semaphore{make(chan struct{}, atOnce)} }

type turnKey struct{}

// Turn ends a read of what may be long if ctx has a share but no turn: it returns an
// error after which [Semaphore.Read] waits, and nil otherwise.
func Turn(ctx context.Context) error {
	if Of(ctx) == nil || ctx.Value(turnKey{}) != nil {
		return nil
	}
	return errTurn
}

// Read calls read, and calls it again if it has to wait for its turn or for room:
// then what it returned before must be discarded.
//
// Errors are read's and those of [Share.Again].
func (t *Semaphore) Read(ctx context.Context, read func(context.Context) error) error {
	share := Of(ctx)
	was := share.Used()
	err := read(ctx)
	if errors.Is(err, errTurn) {
		err = t.inTurn(ctx, read)
	}
	for errors.Is(err, ErrFull) && share != nil {
		if err := share.Again(ctx, was); err != nil { // without holding a turn, which others need
			return err
		}
		err = t.inTurn(ctx, read)
	}
	return err
}

func (t *Semaphore) inTurn(ctx context.Context, read func(context.Context) error) error {
	select {
	case t.now <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.now }()
	return read(context.WithValue(ctx, turnKey{}, true))
}
