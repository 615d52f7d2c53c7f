package room

import (
	"context"
	"errors"
)

// errTurn says that a read has to wait for its turn.
var errTurn = errors.New("what may be long is read few at once")

// Semaphore lets those who share rooms read what may be long few at once: that is in
// memory, twice, before it is known how long it is.
type Semaphore struct{ now chan struct{} }

// NewSemaphore returns turns for so many at once.
func NewSemaphore(atOnce int) *Semaphore { return &Semaphore{make(chan struct{}, atOnce)} }

type turnKey struct{}

// Turn ends a read of what may be long, for one who shares a room and has no turn: it
// returns an error that [Semaphore.Read] waits after, and nil for all others.
func Turn(ctx context.Context) error {
	if Of(ctx) == nil || ctx.Value(turnKey{}) != nil {
		return nil
	}
	return errTurn
}

// Read runs read, and again if that has to wait, for its turn or for room: what it
// returned before is of no use then.
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
		if err := share.Again(ctx, was); err != nil { // without a turn, which others need
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
