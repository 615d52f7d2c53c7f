package storetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/skein-dev/skein"
)

func after() []check {
	return []check{
		{name: "a writer that has not seen the end is told where it is", run: movedOn},
		{name: "Fresh begins a session once, 16 writers", run: freshOnce},
		{name: "one of 16 writers with the same After is taken", run: func(t *test) { race(t, []skein.Store{t.s}) }},
		{name: "one of 16 writers at two handles is taken", two: func(t *test, other skein.Store) { race(t, []skein.Store{t.s, other}) }},
	}
}

// wantConflict checks that the batch is refused and the error has the session's
// end.
func (t *asker) wantConflict(b skein.Batch, last skein.Seq) {
	t.Helper()
	err := t.refused(b, skein.ErrConflict)
	var conflict *skein.ConflictError
	if !errors.As(err, &conflict) || conflict.Session != b.Session || conflict.Last != last {
		t.Errorf("Append(%s) = %v, want a ConflictError with the end %d", show(b), err, last)
	}
}

func movedOn(t *test) {
	t.wantConflict(skein.Batch{Session: "a", After: 1, Events: []skein.Event{user("x")}}, 0)
	t.append(skein.Batch{Session: "a", After: skein.Fresh, Events: []skein.Event{created(), user("x")}})
	for _, after := range []skein.Seq{skein.Fresh, 1, 3, 1 << 40} {
		t.wantConflict(skein.Batch{Session: "a", After: after, Events: []skein.Event{user("y")}}, 2)
	}
	t.append(skein.Batch{Session: "a", After: 2, Events: []skein.Event{user("y"), user("z")}})
	t.append(skein.Batch{Session: "a", Events: []skein.Event{user("wherever")}})
	t.add("f", fork("a", 3))
	t.wantConflict(skein.Batch{Session: "f", After: 3, Events: []skein.Event{user("y")}}, 4)
	t.append(skein.Batch{Session: "f", After: 4, Events: []skein.Event{user("y")}})
	t.wantEnd("a", 5)
	t.wantEnd("f", 5)
}

func freshOnce(t *test) {
	var taken atomic.Int64
	everyone(16, func(int) {
		_, err := t.s.Append(context.Background(), skein.Batch{Session: "a", After: skein.Fresh, Events: []skein.Event{created(), user("x")}})
		if err == nil {
			taken.Add(1)
		} else if !errors.Is(err, skein.ErrConflict) {
			t.Errorf("Append = %v, want ErrConflict", err)
		}
	})
	if taken.Load() != 1 {
		t.Errorf("%d writers began the session, want 1", taken.Load())
	}
	t.wantEnd("a", 2)
}

func race(t *test, stores []skein.Store) {
	last := t.add("a", created())
	for range 10 {
		var taken atomic.Int64
		everyone(16, func(w int) {
			_, err := stores[w%len(stores)].Append(context.Background(), skein.Batch{Session: "a", After: last, Events: []skein.Event{user("x")}})
			var conflict *skein.ConflictError
			if err == nil {
				taken.Add(1)
			} else if !errors.As(err, &conflict) || conflict.Last != last+1 {
				t.Errorf("Append = %v, want a ConflictError with the end %d", err, last+1)
			}
		})
		if taken.Load() != 1 {
			t.Fatalf("%d writers were taken, want 1", taken.Load())
		}
		last++
	}
	t.wantEnd("a", last)
}
