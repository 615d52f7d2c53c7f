package search

import (
	"cmp"
	"context"
	"time"
)

const (
	usualWork = 150 * time.Millisecond // of a search without a deadline
	leastWork = 20 * time.Millisecond  // of any search: about 1,000 messages
)

// A Budget is the work that one search may do. It is counted, not timed: on a busy
// machine a search takes longer but finds the same. It is for one goroutine.
type Budget struct {
	ctx  context.Context
	left time.Duration
}

// NewBudget returns the budget of a search with that [skein.Query].Deadline. It ends
// when ctx does.
func NewBudget(ctx context.Context, deadline time.Duration) *Budget {
	return &Budget{ctx, max(cmp.Or(deadline, usualWork), leastWork)}
}

// Spend takes work, the time it takes on an idle machine, from b and reports whether
// any is left.
func (b *Budget) Spend(work time.Duration) bool {
	b.left -= work
	return b.left > 0 && b.ctx.Err() == nil
}

// Left returns the work that may still be done, 0 or more.
func (b *Budget) Left() time.Duration { return max(0, b.left) }

// Spent reports whether the budget is spent, or the search's context has ended.
func (b *Budget) Spent() bool { return !b.Spend(0) }

// Err returns the error of the search's context; nil while the search may continue.
func (b *Budget) Err() error { return b.ctx.Err() }
