package sqlite

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// A caller who gives up at the very moment when a read begins leaves a connection
// that can be used again.
func TestWhoGivesUpAtTheBeginningOfAReadBreaksNothing(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	var all sync.WaitGroup
	for range 4 * readConns { // the busier, the more often it is that moment
		all.Go(func() {
			for i := range 1000 {
				_ = s.readers.Read(harness.EndingAt(i%6), func(*engine.Conn) error { return nil }) //nolint:errcheck // it may have ended
				if err := s.readers.Read(t.Context(), func(*engine.Conn) error { return nil }); err != nil {
					t.Errorf("after %d callers who gave up, a read fails: %v", i+1, err)
					return
				}
			}
		})
	}
	all.Wait()
}
