package reads

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// busyMachine checks that a search finds an existing text even while others
// take most of the processor.
func busyMachine(t *harness.Test) {
	for i := range 20 {
		evs := []skein.Event{fixture.Created()}
		for k := range 100 {
			evs = append(evs, fixture.User(fmt.Sprintf("fix the error in part %d of %d", k, i)))
		}
		t.Add(skein.SessionID(fmt.Sprint("s", i)), evs...)
	}
	t.WantFound(`"part 3 of 5"`, harness.At("s5", 5))
	defer busy()()
	for _, q := range []skein.Query{
		{Terms: []skein.Term{{Words: []string{"fix"}}, {Words: []string{"the"}}, {Words: []string{"error"}}}},
		{Terms: []skein.Term{{Words: []string{"err"}, Prefix: true}}, User: skein.Local},
		{Substring: "e error in"},
		{Regex: "err.r in"},
		{Role: skein.RoleUser},
	} {
		r, err := t.Store.Search(t.Context(), q)
		if err != nil || len(r.Hits) == 0 {
			t.Errorf("Search(%+v) on a busy machine = %d hits, cut off %v, %v, want some", q, len(r.Hits), r.CutOff, err)
		}
	}
}

// busy keeps the processors busy until the returned function is called.
func busy() (done func()) {
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for range 8 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for ctx.Err() == nil { //nolint:revive // it is meant to do nothing
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// endless checks that the work on a single text is bounded too: by the
// deadline, and by the caller's context.
func endless(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User(strings.Repeat("xy", 1<<20)))
	q := skein.Query{Regex: "(.*)*(.*)*(.*)*x{1000}", Deadline: time.Millisecond}
	if r, err := t.Store.Search(t.Context(), q); err != nil || !r.CutOff {
		t.Errorf("Search(%+v) = %+v, %v, want to be told that it was cut off", q, r, err)
	}
	q.Deadline = 24 * time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := t.Store.Search(ctx, q); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Search(%+v) that was given up: %v, want %v", q, err, context.DeadlineExceeded)
	}
	for _, q := range []skein.Query{{Regex: "(a{1000}b{1000}){1}" + strings.Repeat("(c{1000})", 9)}, {Regex: strings.Repeat("a", 5000)}, {Substring: strings.Repeat("a", 5000)}} {
		_, err := t.Store.Search(t.Context(), q)
		t.WantErr("Search with an expression that is too long", err, skein.ErrInvalid)
	}
}
