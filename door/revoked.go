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
// again. A stream ends within a second of its token.
const lookEvery = 400 * time.Millisecond

// ErrRevoked is why the context of a request ends whose token or login is no
// longer what it was when the request came in.
var ErrRevoked = errors.New("the token or login was revoked")

// A visit is a request under way, by what it showed.
type visit struct {
	shown proof
	token Token // as it was when the request came in
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
func (d *Door) enter(ctx context.Context, shown proof, token Token) (_ context.Context, leave func()) {
	ctx, end := context.WithCancelCause(ctx)
	v := &visit{shown, token, end}
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
	for {
		select {
		case <-rest:
			return
		case <-ticks.C:
			d.visits.mu.Lock()
			open := maps.Clone(d.visits.open)
			d.visits.mu.Unlock()
			d.endRevoked(open)
		}
	}
}

// endRevoked looks up again what was shown, and ends what it no longer allows.
// Where that cannot be looked up now nothing is known of it: the next look
// decides. Without a file of tokens nobody is let in.
func (d *Door) endRevoked(open map[*visit]struct{}) {
	all := map[proof]struct{}{}
	for v := range open {
		all[v.shown] = struct{}{}
	}
	known, err := d.tokens.find(context.Background(), slices.Collect(maps.Keys(all))...)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.Log.Error("tokens cannot be looked up", "err", err)
		return
	}
	for v := range open {
		if known[v.shown].token != v.token {
			v.end(ErrRevoked)
		}
	}
}
