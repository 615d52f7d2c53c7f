package door

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

// lookEvery is how often the tokens of the requests under way are looked up
// again. A stream ends within a second of its token.
const lookEvery = 400 * time.Millisecond

// ErrRevoked is why the context of a request ends whose token or login is no
// longer what it was when the request came in.
var ErrRevoked = errors.New("the token or login was revoked")

// A visit is a request under way, by what it showed.
type visit struct {
	r     *http.Request
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
func (d *Door) enter(r *http.Request, token Token) (_ context.Context, leave func()) {
	ctx, end := context.WithCancelCause(r.Context())
	v := &visit{r, token, end}
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

// endRevoked looks the tokens of open up again, each once, and ends what they no
// longer allow. Where one cannot be looked up now, nothing is known of it: the
// next look decides.
func (d *Door) endRevoked(open map[*visit]struct{}) {
	type answer struct {
		token Token
		err   error
	}
	known := map[string]answer{}
	for v := range open {
		shown := v.r.Header.Get("Authorization") + "\n" + v.r.Header.Get("Cookie")
		now, ok := known[shown]
		if !ok {
			now.token, now.err = d.token(v.r)
			known[shown] = now
		}
		gone := errors.Is(now.err, skein.ErrNotFound) || errors.Is(now.err, fs.ErrNotExist)
		if gone || now.err == nil && now.token != v.token {
			v.end(ErrRevoked)
		}
	}
}
