package hits

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/lexemes"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/search"
)

const (
	shortest = 20 * time.Millisecond  // the least work that a search may do,
	usual    = 150 * time.Millisecond // how much it may do if the query does not say
	longest  = 10 * time.Second       // the least time that statements get if nothing was found at first
	busy     = 20                     // a search may take this many times its work, if the machine is busy
	day      = 24 * time.Hour         // a longer deadline is no limit

	rowWork  = 5 * time.Microsecond   // the time to fetch a row, without its text,
	rankWork = 120 * time.Microsecond // and to rank it
)

// errLate says that the search must look at nothing more.
var errLate = errors.New("the budget of the search is spent")

// A Searcher is one search under way.
type Searcher struct {
	searchScope
	hitSet
	s       wire.Principal
	shows   Shows
	matcher *search.Matcher
	finder  lexemes.IndexQuery
	indexed bool           // finder finds what matches
	budget  *search.Budget // what may still be looked at
	until   time.Time      // when statements end
}

// Shows finds a session that the search's user may see, and what it shows.
type Shows func(q *wire.Conn, id skein.SessionID) (ShownSession, error)

// New returns a search for q by s; nil if there is nothing to search for.
//
// The error wraps [skein.ErrInvalid] if q is invalid.
func New(s wire.Principal, q skein.Query, shows Shows) (*Searcher, error) {
	x := &Searcher{searchScope: searchScope{q: q}, hitSet: hitSet{limit: q.MostHits(), each: q.Each, one: q.Session != "", seen: map[eventRef]bool{}}, s: s, shows: shows}
	var err error
	if x.matcher, err = search.NewMatcher(q); err != nil || search.Empty(&q) {
		return nil, err
	}
	if q.Substring == "" && q.Regex == "" {
		x.finder, x.indexed = lexemes.QueryOf(q.Terms)
	}
	return x, nil
}

// Indexed reports whether the index finds what matches.
func (x *Searcher) Indexed() bool { return x.indexed }

// Run returns what is found. The error is that of the database.
func (x *Searcher) Run(ctx context.Context) (r skein.Results, err error) {
	if none, err := x.conditions(ctx, x.s, x.shows); err != nil || none {
		return r, err
	}
	// First search what is not indexed: events that are indexed meanwhile are then
	// found twice instead of never.
	if err := x.insist(ctx, x.fresh); err != nil {
		return r, err
	}
	if x.indexed {
		err = x.ranked(ctx)
	} else {
		err = x.scanned(ctx)
	}
	if err != nil {
		return r, err
	}
	x.allow(ctx)
	return x.results(ctx)
}

// limit sets the statement timeout for the rest of the transaction to the time left.
func limit(p *wire.Pipe, until time.Time) {
	p.Exec(`SELECT set_config('statement_timeout', $1::bigint::text, true)`, max(time.Until(until), time.Millisecond).Milliseconds())
}

// part runs a part of the search on a snapshot of the database, until it is done or
// has used what the query allows.
func (x *Searcher) part(ctx context.Context, f func(*wire.Conn) error) error {
	return x.timed(ctx, busy*x.work(), f)
}

// work returns how much each part of x may do, as the time that it takes on an idle
// machine.
func (x *Searcher) work() time.Duration {
	return min(max(cmp.Or(x.q.Deadline, usual), shortest), day)
}

// rows returns how many rows x may process if each takes that much time.
func (x *Searcher) rows(each time.Duration) int { return int(min(x.work()/each, math.MaxInt32)) }

// insist is part, but the answer must not be empty only because the machine is busy.
// What f looks at is limited by the budget, or by how many rows it asks for.
func (x *Searcher) insist(ctx context.Context, f func(*wire.Conn) error) error {
	before, cut := len(x.hits), x.cutOff
	err := x.part(ctx, f)
	if err == nil && x.cutOff && !cut && len(x.hits) == before {
		x.cutOff = false
		err = x.timed(ctx, max(longest, busy*x.work()), f)
	}
	return err
}

// timed is part with a time limit.
func (x *Searcher) timed(ctx context.Context, most time.Duration, f func(*wire.Conn) error) error {
	x.until = time.Now().Add(most)
	x.allow(ctx)
	err := x.s.Read(ctx, f)
	if errors.Is(err, errLate) || sqlstate.Of(err) == sqlstate.Canceled && ctx.Err() == nil {
		x.cutOff, err = true, nil
	}
	return cmp.Or(ctx.Err(), err)
}

// allow lets the next part of x look at as much as the query allows.
func (x *Searcher) allow(ctx context.Context) {
	x.budget = search.NewBudget(ctx, x.q.Deadline)
	x.matcher = x.matcher.Within(x.budget)
}

// spend takes work from the budget. The error is errLate if nothing is left.
func (x *Searcher) spend(work time.Duration) error {
	if !x.budget.Spend(work) {
		return errLate
	}
	return nil
}
