package door

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	maxWrong   = 100 // wrong tokens from one address in wrongFor
	wrongFor   = 15 * time.Minute
	maxAddr    = 10_000 // addresses to remember
	maxStreams = 1000   // at once
	maxOfToken = 100    // of these, with one token
)

// wrongs counts wrong tokens by address.
type wrongs struct {
	mu    sync.Mutex
	since time.Time
	count map[string]int
}

// add counts one, and reports whether there are too many.
func (w *wrongs) add(r *http.Request, now time.Time) bool {
	addr := address(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.since) > wrongFor || len(w.count) >= maxAddr {
		w.since, w.count = now, map[string]int{}
	}
	w.count[addr]++
	return w.count[addr] > maxWrong
}

// streamLimit counts the open streams, and ends them.
type streamLimit struct {
	mu    sync.Mutex
	ended bool
	next  int
	open  map[int]context.CancelFunc
	count map[string]int // by token
}

// enter counts a stream. It returns a context that ends when the server stops,
// and a function for the stream's end; both are nil if there are too many.
func (s *streamLimit) enter(ctx context.Context, token string) (_ context.Context, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxStreams || s.count[token] >= maxOfToken {
		return nil, nil
	}
	if s.open == nil {
		s.open, s.count = map[int]context.CancelFunc{}, map[string]int{}
	}
	ctx, cancel := context.WithCancel(ctx)
	if s.ended {
		cancel()
	}
	s.next++
	n := s.next
	s.open[n] = cancel
	s.count[token]++
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, n)
		if s.count[token]--; s.count[token] == 0 {
			delete(s.count, token)
		}
	}
}

// end ends all streams, and those that are opened later.
func (s *streamLimit) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, cancel := range s.open {
		cancel()
	}
}

// Streams returns how many streams are open.
func (d *Door) Streams() int {
	d.streams.mu.Lock()
	defer d.streams.mu.Unlock()
	return len(d.streams.open)
}
