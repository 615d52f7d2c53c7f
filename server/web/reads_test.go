package web_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// counting counts the reads of a store.
type counting struct {
	skein.Store
	reads *atomic.Int64
}

func (c counting) Unwrap() skein.Store { return c.Store }

func (c counting) As(u skein.User) skein.Store { return counting{c.Store.As(u), c.reads} }

func (c counting) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	c.reads.Add(1)
	return c.Store.Session(ctx, id)
}

func (c counting) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	c.reads.Add(1)
	return c.Store.Sessions(ctx, f)
}

func (c counting) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	c.reads.Add(1)
	return c.Store.Events(ctx, id, after)
}

func (c counting) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	c.reads.Add(1)
	return c.Store.Newest(ctx, id, n, before)
}

func (c counting) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	c.reads.Add(1)
	return c.Store.Search(ctx, q)
}

func (c counting) Usage(ctx context.Context, q skein.UsageQuery) ([]skein.UsageRow, error) {
	c.reads.Add(1)
	return c.Store.Usage(ctx, q)
}

func TestAPageReadsTheStoreNoMoreOftenWhenItShowsMore(t *testing.T) {
	reads := func(sessions int) map[string]int64 {
		store := counting{memory.New(), &atomic.Int64{}}
		c := &composer{t: t, store: store}
		for i := range sessions {
			c.begin(fmt.Sprintf("s%02d", i), composedNow, skein.Created{Project: "/p"})
			c.asks("Is the brown fox quick?")
			c.answers("claude-sonnet-4-5", "It is.", used(100, 10, 0, 0))
		}
		c.begin("child-of-s00", composedNow, skein.Created{Parent: &skein.Parent{Session: "s00", Why: skein.Child}})
		for i := range sessions {
			c.begin(fmt.Sprintf("b%02d", i), composedNow, skein.Created{})
			c.asks("Bin me.")
			if err := skein.LifecycleOf(store).Bin(t.Context(), skein.SessionID(fmt.Sprintf("b%02d", i))); err != nil {
				t.Fatal(err)
			}
		}
		v := visiting(t, store, nil)
		all := map[string]int64{}
		for _, path := range []string{"/", "/search?q=brown", "/search?piece=1&q=brown", "/usage?since=", "/bin", "/sessions/s00"} {
			before := store.reads.Load()
			body := v.get(path)
			all[path] = store.reads.Load() - before
			if n := strings.Count(body, "data-item"); path == "/" && n < sessions {
				t.Errorf("%s shows %d sessions, want %d", path, n, sessions)
			}
		}
		return all
	}
	few, many := reads(3), reads(30)
	for path, n := range many {
		if n > few[path] {
			t.Errorf("GET %s reads the store %d times for 30 sessions and %d times for 3, want as often", path, n, few[path])
		}
		t.Logf("GET %s reads the store %d times", path, n)
	}
}
