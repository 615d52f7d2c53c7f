package web_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// tardy is a store whose feed begins late.
type tardy struct {
	skein.Store
	begin chan struct{}
}

func (s tardy) Unwrap() skein.Store { return s.Store }

// As implements [skein.Store].
func (s tardy) As(u skein.User) skein.Store { return tardy{s.Store.As(u), s.begin} }

// Feed implements [skein.Feed].
func (s tardy) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		<-s.begin
		for f, err := range skein.FeedOf(s.Store).Feed(ctx, after) {
			if !yield(f, err) {
				return
			}
		}
	}
}

// A list that says that it is live misses nothing from then on.
func TestTheListIsNotLiveBeforeItsFeedHasBegun(t *testing.T) {
	store := tardy{composed(t), make(chan struct{})}
	v := visiting(t, store, nil)
	open := make(chan *hearing, 1)
	go func() { open <- v.hear("/sessions/stream") }()
	select {
	case <-open:
		close(store.begin)
		t.Fatal("the stream is open before the feed has begun")
	case <-time.After(200 * time.Millisecond): // long enough to see it fail
	}
	close(store.begin)
	h := <-open
	c := &composer{t: t, store: store, calls: 8000}
	c.begin("s-new", composedNow, skein.Created{Title: "Just begun"})
	h.until("changed")
}
