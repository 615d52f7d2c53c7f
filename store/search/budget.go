package search

import (
	"cmp"
	"context"
	"time"
)

const (
	usualWork = 150 * time.Millisecond // of a search that does not say
	leastWork = 20 * time.Millisecond  // no search does less: some 1,000 messages
)

// A Budget is the work that one search may do. It is counted, not timed: where
// others keep the machine busy a search takes longer, and finds the same. It is
// for one goroutine.
type Budget struct {
	ctx  context.Context
	left time.Duration
}

// NewBudget returns what a search with that [skein.Query].Deadline may do, which ends
// with ctx.
func NewBudget(ctx context.Context, deadline time.Duration) *Budget {
	return &Budget{ctx, max(cmp.Or(deadline, usualWork), leastWork)}
}

// Spend takes work from b, as the time that it takes where nothing else runs,
// and reports whether more may be done.
func (b *Budget) Spend(work time.Duration) bool {
	b.left -= work
	return b.left > 0 && b.ctx.Err() == nil
}

// Left returns the work that may still be done; 0 if that is none.
func (b *Budget) Left() time.Duration { return max(0, b.left) }

// Spent reports whether all was spent, or the search's context has ended.
func (b *Budget) Spent() bool { return !b.Spend(0) }

// Err returns the error of the search's context, nil while it goes on.
func (b *Budget) Err() error { return b.ctx.Err() }
