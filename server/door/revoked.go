package door

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// lookEvery is how often the tokens of running requests are looked up again,
// and maxLooks how many registry lookups may be waiting at once. A stream ends
// within a second of its token, even if one lookup is never answered.
const (
	lookEvery = 400 * time.Millisecond
	maxLooks  = 4
)

// ErrRevoked is the cause of a request's context when its token or login was
// revoked or changed.
var ErrRevoked = errors.New("the token or login was revoked")

// A visit is a running request, with what it was authenticated by.
type visit struct {
	shown proof
	token Token // at the start of the request
	filed bool  // it is in the file, not in the registry
	end   context.CancelCauseFunc
}

// visits are the running requests with a token or a login.
type visits struct {
	mu   sync.Mutex
	open map[*visit]struct{}
	rest chan struct{} // closed when there are no requests left, which ends the goroutine of lookAfter
}

// enter registers a request. It returns a context that ends when the request's
// token does, and a function for the request's end.
func (d *Door) enter(ctx context.Context, shown proof, from Visitor) (_ context.Context, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	v := &visit{shown, from.known, from.in == logbook(&d.tokens.browsers), end}
	s := &d.visits
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		s.open, s.rest = map[*visit]struct{}{}, make(chan struct{})
		go d.lookAfter(s.rest)
	}
	s.open[v] = struct{}{}
	return ctx, func() {
		end(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.open, v); len(s.open) == 0 {
			close(s.rest)
		}
	}
}

// lookAfter ends requests whose tokens end, until rest is closed.
func (d *Door) lookAfter(rest <-chan struct{}) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	var looks sync.WaitGroup
	defer looks.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	under := make(chan struct{}, maxLooks)
	for {
		select {
		case <-rest:
			return
		case <-ticks.C:
			filed, registered := d.visits.now()
			d.endRevoked(ctx, filed, d.tokens.findInFile)
			select {
			case under <- struct{}{}:
				looks.Go(func() {
					defer func() { <-under }()
					d.endRevoked(ctx, registered, d.tokens.find)
				})
			default: // none of the lookups was answered yet
			}
		}
	}
}

// now returns the running requests: those with tokens of the file, and the
// others.
func (s *visits) now() (filed, registered []*visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.open {
		if v.filed {
			filed = append(filed, v)
		} else {
			registered = append(registered, v)
		}
	}
	return filed, registered
}

// endRevoked looks up the tokens and logins again, and ends the requests that
// are no longer allowed. If a lookup fails, nothing is known: the next one
// decides. Without a file of tokens, nobody is let in.
func (d *Door) endRevoked(ctx context.Context, open []*visit, find func(context.Context, ...proof) (map[proof]proofInfo, error)) {
	if len(open) == 0 {
		return
	}
	all := map[proof]struct{}{}
	for _, v := range open {
		all[v.shown] = struct{}{}
	}
	known, err := find(ctx, slices.Collect(maps.Keys(all))...)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if ctx.Err() == nil {
			d.Log.Error("tokens cannot be looked up", "err", err)
		}
		return
	}
	for _, v := range open {
		if known[v.shown].token != v.token {
			v.end(ErrRevoked)
		}
	}
}
