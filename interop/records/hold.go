package records

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
)

// Patience is how long a sync waits for another one of the same source, and how long
// a side file that announces a write is assumed to be completed soon. An import leaves
// the source for later after a second.
const (
	Patience   = 30 * time.Second
	Impatience = time.Second
	heldFor    = 50 * time.Millisecond // how long to wait before asking again
)

// heldBy returns the ID whose lease is held while a source of a unit is written, or
// what was read from it is stored. Sixty-four IDs cover all units.
func heldBy(unit string) skein.SessionID {
	return skein.SessionID(fmt.Sprintf("writing~%02x", sha256.Sum256([]byte(unit))[0]%64))
}

// Hold takes the right to write to a unit, or to store what is in it, and waits
// up to patience while somebody else has it.
//
// The error wraps [skein.ErrLocked] if the wait is in vain; others are the
// store's and ctx's.
func Hold(ctx context.Context, s skein.Store, program, unit string, patience time.Duration) (release func() error, err error) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		release, err := TryHold(ctx, s, program, unit)
		var locked *skein.LockedError
		if !errors.As(err, &locked) {
			return release, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-over.C:
			return nil, fmt.Errorf("%s: %w: %s writes to it", unit, skein.ErrLocked, locked.Holder)
		case <-time.After(heldFor):
		}
	}
}

// TryHold takes the right to write to a unit, or to store what is in it.
//
// The error wraps [skein.ErrLocked] if somebody else has it; others are the store's.
func TryHold(ctx context.Context, s skein.Store, program, unit string) (release func() error, err error) {
	l, err := skein.LeasesOf(s).Acquire(ctx, heldBy(unit), skein.LeaseRequest{Program: program})
	if err != nil {
		return nil, err
	}
	return func() error { return skein.LeasesOf(s).Release(context.WithoutCancel(ctx), l) }, nil
}
