package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

// Of several servers that start at once on an empty database, one makes the tables, and
// only that one says so.
func TestOneOfManyMakesTheTables(t *testing.T) {
	dsn := pgtest.DSN(t)
	var said atomic.Int32
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{Notice: func(string) { said.Add(1) }})
			if err != nil {
				t.Errorf("Open = %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		})
	}
	wg.Wait()
	if n := said.Load(); n != 1 {
		t.Errorf("%d of 6 say that they make the tables, want 1", n)
	}
}
