package hits

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// The time that work takes if nothing else runs.
const (
	placeWork  = time.Microsecond      // to find one place in the index
	matchWork  = 10 * time.Microsecond // and to rank it
	rowWork    = 5 * time.Microsecond  // to read one event, without its text
	filterWork = 2 * time.Microsecond  // and to see that it does not satisfy the conditions
)

// A Searcher is one search in progress.
type Searcher struct {
	searchScope
	allowance
	expr    string // what the index is asked for
	indexed bool   // the index can be asked
	hits    []hit
	partial bool // the counts of the hits are incomplete: it stopped once there were enough hits
	limit   int
	looked  int // places of the index that were looked at to find those of some sessions
}

// An allowance is how much work a search may still do.
type allowance struct {
	deadline time.Duration // skein.Query.Deadline
	budget   *search.Budget
	matcher  *search.Matcher
	cutOff   bool
}

// A hit is a row that matches.
type hit struct {
	skein.Hit
	id      int64  // of the event
	session int64  // the session's number
	expr    string // the expression by which the index found it; "" if a scan did
	passage int64  // the row of the index that has what matches of a long text; 0 if the text is not long
}

// New prepares the search for q in v. The error wraps [skein.ErrInvalid] if q
// cannot be searched for.
func New(v View, q skein.Query) (*Searcher, error) {
	m, err := search.NewMatcher(q)
	if err != nil {
		return nil, err
	}
	x := &Searcher{searchScope: searchScope{q: q, view: v}, allowance: allowance{deadline: q.Deadline, matcher: m}, limit: q.MostHits()}
	if q.Substring == "" && q.Regex == "" {
		x.expr, x.indexed = matchExpr(q.Terms)
	}
	return x, nil
}

// Indexed reports whether the index is asked, which should have caught up before.
func (x *Searcher) Indexed() bool { return x.indexed }

// Run searches on connections of readers. The error is that of ctx or of the pool.
func (x *Searcher) Run(ctx context.Context, readers *engine.Pool) (r skein.Results, err error) {
	err = readers.Read(ctx, func(c *engine.Conn) error {
		if none, err := x.conditions(c); err != nil || none {
			return err
		}
		x.allow(ctx)
		if !x.indexed {
			return x.scan(c, 0)
		}
		return x.ranked(c, x.expr)
	})
	if err != nil {
		return skein.Results{}, err
	}
	x.allow(ctx)
	err = readers.Read(ctx, func(c *engine.Conn) error {
		r, err = x.results(c)
		return err
	})
	return r, err
}

// allow lets the next part of x do as much work as the query allows.
func (x *allowance) allow(ctx context.Context) {
	x.budget = search.NewBudget(ctx, x.deadline)
	x.matcher = x.matcher.Within(x.budget)
}

// errSpent ends a search that has used up its budget.
var errSpent = errors.New("the budget of the search is spent")

// spend takes work from the budget. The error is errSpent if nothing is left.
func (x *allowance) spend(work time.Duration) error {
	if x.budget.Spend(work) {
		return nil
	}
	return cmp.Or(x.budget.Err(), errSpent)
}

// cut returns err, unless it says that the budget is spent: then it marks the
// search as cut off.
func (x *allowance) cut(err error) error {
	if errors.Is(err, errSpent) {
		x.cutOff, err = true, nil
	}
	return err
}
