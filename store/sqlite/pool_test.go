package sqlite

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein/store/sqlite/engine"
)

// An endingContext ends when its Done is called for the nth time.
type endingContext struct {
	context.Context
	left  atomic.Int32
	ended chan struct{}
}

func endingAt(n int) *endingContext {
	x := &endingContext{Context: context.Background(), ended: make(chan struct{})}
	x.left.Store(int32(n))
	close(x.ended)
	return x
}

func (x *endingContext) Done() <-chan struct{} {
	if x.left.Add(-1) >= 0 {
		return make(chan struct{})
	}
	return x.ended
}

func (x *endingContext) Err() error {
	if x.left.Load() >= 0 {
		return nil
	}
	return context.Canceled
}

// A caller who gives up at the very moment when a read begins leaves a connection
// that can be used again.
func TestWhoGivesUpAtTheBeginningOfAReadBreaksNothing(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	var all sync.WaitGroup
	for range 4 * readConns { // the busier, the more often it is that moment
		all.Go(func() {
			for i := range 1000 {
				_ = s.readers.Read(endingAt(i%6), func(*engine.Conn) error { return nil }) //nolint:errcheck // it may have ended
				if err := s.readers.Read(t.Context(), func(*engine.Conn) error { return nil }); err != nil {
					t.Errorf("after %d callers who gave up, a read fails: %v", i+1, err)
					return
				}
			}
		})
	}
	all.Wait()
}
