package lookup

import (
	"context"
	"errors"
	"math"

	"github.com/skein-dev/skein"
)

// maxAncestry bounds how many ancestors of a session are looked at.
const maxAncestry = 1000

// Common returns the seq up to which two sessions show the same events: one is a fork of
// the other, or both are forks, through any number of forks, of a third; 0 if they have
// nothing in common. The error is the store's.
func Common(ctx context.Context, store skein.Store, a, b skein.Session) (skein.Seq, error) {
	shown, err := shownOf(ctx, store, a)
	if err != nil {
		return 0, err
	}
	other, err := shownOf(ctx, store, b)
	if err != nil {
		return 0, err
	}
	most := skein.Seq(0)
	for id, upto := range shown {
		most = max(most, min(upto, other[id]))
	}
	return most, nil
}

// shownOf returns up to which seq a session shows the events of itself, of the session
// that it is a fork of, and so on.
func shownOf(ctx context.Context, store skein.Store, one skein.Session) (map[skein.SessionID]skein.Seq, error) {
	upto := map[skein.SessionID]skein.Seq{one.ID: math.MaxInt64}
	limit := skein.Seq(math.MaxInt64)
	for range maxAncestry {
		if !one.Parent.IsFork() {
			break
		}
		parent := one.Parent.Session
		if _, seen := upto[parent]; seen {
			break
		}
		limit = min(limit, one.Base)
		upto[parent] = limit
		var err error
		if one, err = store.Session(ctx, parent); errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return upto, nil
}
