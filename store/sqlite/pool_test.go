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
	left atomic.Int32
	end  context.CancelFunc
}

func endingAt(n int) *endingContext {
	x := &endingContext{}
	x.Context, x.end = context.WithCancel(context.Background())
	x.left.Store(int32(n))
	return x
}

func (x *endingContext) Done() <-chan struct{} {
	if x.left.Add(-1) < 0 {
		x.end()
	}
	return x.Context.Done()
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
