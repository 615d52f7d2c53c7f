package appends

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func after() []harness.Check {
	return []harness.Check{
		{Name: "a writer that has not seen the end is told where it is", Run: movedOn},
		{Name: "Fresh begins a session once, 16 writers", Run: freshOnce},
		{Name: "one of 16 writers with the same After is taken", Run: func(t *harness.Test) { race(t, []skein.Store{t.Store}) }},
		{Name: "one of 16 writers at two handles is taken", Two: func(t *harness.Test, other skein.Store) { race(t, []skein.Store{t.Store, other}) }},
	}
}

// wantConflict checks that the batch is refused and the error has the session's
// end.
func wantConflict(t *harness.Test, b skein.Batch, last skein.Seq) {
	t.Helper()
	err := t.Refused(b, skein.ErrConflict)
	var conflict *skein.ConflictError
	if !errors.As(err, &conflict) || conflict.Session != b.Session || conflict.Last != last {
		t.Errorf("Append(%s) = %v, want a ConflictError with the end %d", harness.Show(b), err, last)
	}
}

func movedOn(t *harness.Test) {
	wantConflict(t, skein.Batch{Session: "a", After: 1, Events: []skein.Event{fixture.User("x")}}, 0)
	t.Append(skein.Batch{Session: "a", After: skein.Fresh, Events: []skein.Event{fixture.Created(), fixture.User("x")}})
	for _, after := range []skein.Seq{skein.Fresh, 1, 3, 1 << 40} {
		wantConflict(t, skein.Batch{Session: "a", After: after, Events: []skein.Event{fixture.User("y")}}, 2)
	}
	t.Append(skein.Batch{Session: "a", After: 2, Events: []skein.Event{fixture.User("y"), fixture.User("z")}})
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("wherever")}})
	t.Add("f", fixture.Fork("a", 3))
	wantConflict(t, skein.Batch{Session: "f", After: 3, Events: []skein.Event{fixture.User("y")}}, 4)
	t.Append(skein.Batch{Session: "f", After: 4, Events: []skein.Event{fixture.User("y")}})
	t.WantEnd("a", 5)
	t.WantEnd("f", 5)
}

func freshOnce(t *harness.Test) {
	var taken atomic.Int64
	harness.Everyone(16, func(int) {
		_, err := t.Store.Append(context.Background(), skein.Batch{Session: "a", After: skein.Fresh, Events: []skein.Event{fixture.Created(), fixture.User("x")}})
		if err == nil {
			taken.Add(1)
		} else if !errors.Is(err, skein.ErrConflict) {
			t.Errorf("Append = %v, want ErrConflict", err)
		}
	})
	if taken.Load() != 1 {
		t.Errorf("%d writers began the session, want 1", taken.Load())
	}
	t.WantEnd("a", 2)
}

func race(t *harness.Test, stores []skein.Store) {
	last := t.Add("a", fixture.Created())
	for range 10 {
		var taken atomic.Int64
		harness.Everyone(16, func(w int) {
			_, err := stores[w%len(stores)].Append(context.Background(), skein.Batch{Session: "a", After: last, Events: []skein.Event{fixture.User("x")}})
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
	t.WantEnd("a", last)
}
