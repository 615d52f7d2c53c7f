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

// lookEvery is how often the tokens of the requests under way are looked up
// again, and maxLooks how many looks into the registry wait for an answer at once.
// A stream ends within a second of its token, also where one answer does not come.
const (
	lookEvery = 400 * time.Millisecond
	maxLooks  = 4
)

// ErrRevoked is why the context of a request ends whose token or login is no
// longer what it was when the request came in.
var ErrRevoked = errors.New("the token or login was revoked")

// A visit is a request under way, by what it showed.
type visit struct {
	shown proof
	token Token // as it was when the request came in
	filed bool  // it is the file's, not the registry's
	end   context.CancelCauseFunc
}

// visits are the requests under way that showed a token or a login.
type visits struct {
	mu   sync.Mutex
	open map[*visit]struct{}
	rest chan struct{} // closed when there are none any more, which ends the goroutine that looks after them
}

// enter counts a request in. It returns a context that ends when its token
// does, and what counts the request out.
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
			default: // none of them was answered yet
			}
		}
	}
}

// now returns the requests under way whose tokens are the file's, and the others.
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

// endRevoked looks up again what was shown, and ends what it no longer allows.
// Where that cannot be looked up now nothing is known of it: the next look
// decides. Without a file of tokens nobody is let in.
func (d *Door) endRevoked(ctx context.Context, open []*visit, find func(context.Context, ...proof) (map[proof]known, error)) {
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
