package reads

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func watching() []harness.Check {
	return []harness.Check{
		{Name: "what was, then what comes", Run: pastThenFuture},
		{Name: "taken up again after any seq", Run: takenUp},
		{Name: "each once and in order, 16 writers, 4 watchers", Run: func(t *harness.Test) { watchMany(t, t.Store) }},
		{Name: "each once and in order, through another handle", Two: watchMany},
		{Name: "never one that is not stored yet", Two: neverEarly},
		{Name: "ends with ctx, without an error", Run: endsWithContext},
		{Name: "ends when the session is deleted", Run: endsWhenDeleted},
		{Name: "ends when it is deleted through another handle", Two: endsWhenDeletedAcross},
		{Name: "of a fork, of one in the bin, of a title", Run: watchOthers},
		{Name: "of nobody", Run: func(t *harness.Test) {
			t.WantErr("Watch", harness.Failure(t, t.Store.Watch(t.Context(), "nobody", 0)), skein.ErrNotFound)
		}},
		{Name: "a watch that was left holds nothing", Run: watchLeft},
		{Name: "what another process appends", Processes: watchProcess},
	}
}

// watchPuller pulls events of a watch.
type watchPuller struct {
	t    *harness.Test
	next func() (skein.Event, error, bool)
	stop func()
}

func watch(t *harness.Test, s skein.Store, id skein.SessionID, after skein.Seq) *watchPuller {
	ctx, cancel := context.WithTimeout(t.Context(), harness.Late)
	t.Cleanup(cancel)
	next, stop := iter.Pull2(s.Watch(ctx, id, after))
	t.Cleanup(stop)
	return &watchPuller{t, next, stop}
}

// want checks that the next event is the one at seq.
func (w *watchPuller) want(seq skein.Seq) {
	w.t.Helper()
	e, err, ok := w.next()
	if !ok || err != nil || e.Seq != seq {
		w.t.Fatalf("Watch yields event %d (error %v, goes on %v), want %d", e.Seq, err, ok, seq)
	}
}

func pastThenFuture(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	t.Add("other", fixture.Created())
	w := watch(t, t.Store, "a", 0)
	w.want(1)
	w.want(2)
	for seq := skein.Seq(3); seq < 20; seq += 2 {
		t.Add("other", fixture.User("elsewhere"))
		t.Add("a", fixture.User("one"), fixture.Titled("two"))
		w.want(seq)
		w.want(seq + 1)
	}
}

func takenUp(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Some(5)...)
	for after := skein.Seq(0); after <= 7; after++ {
		w := watch(t, t.Store, "a", after)
		for seq := after + 1; seq <= 6; seq++ {
			w.want(seq)
		}
		w.stop()
	}
	w := watch(t, t.Store, "a", 7)
	t.Add("a", fixture.User("seventh"), fixture.User("eighth"))
	w.want(8)
}

// watchMany has 16 writers on t.s and watchers on s.
func watchMany(t *harness.Test, s skein.Store) {
	t.Add("a", fixture.Created())
	const each = 10
	end := skein.Seq(1 + 16*each)
	watchers := make(chan error)
	for i := range 4 {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), harness.Late)
			defer cancel()
			after := skein.Seq(i % 2)
			for e, err := range s.Watch(ctx, "a", after) {
				if err == nil && e.Seq != after+1 {
					err = fmt.Errorf("Watch yields event %d after %d", e.Seq, after)
				}
				if err != nil {
					watchers <- err
					return
				}
				if after = e.Seq; after == end {
					watchers <- nil
					return
				}
			}
			watchers <- fmt.Errorf("Watch ended after event %d, want %d", after, end)
		}()
	}
	harness.Everyone(16, func(int) {
		for range each {
			if _, err := skein.Add(context.Background(), t.Store, "a", fixture.User("x")); err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	for range 4 {
		if err := <-watchers; err != nil {
			t.Error(err)
		}
	}
}

func neverEarly(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for range 50 {
			if _, err := skein.Add(context.Background(), t.Store, "a", fixture.User("x")); err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	w := watch(t, t.Store, "a", 0)
	for seq := skein.Seq(1); seq <= 51; seq++ {
		w.want(seq)
		s, err := other.Session(t.Context(), "a")
		if err != nil || s.Last < seq {
			t.Fatalf("Watch yields event %d; the other handle sees %d (error %v)", seq, s.Last, err)
		}
	}
}

func endsWithContext(t *harness.Test) {
	t.Add("a", fixture.Created())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int)
	first := make(chan struct{})
	go func() {
		n := 0
		for _, err := range t.Store.Watch(ctx, "a", 0) {
			if n++; err != nil {
				t.Errorf("Watch yields the error %v", err)
			}
			close(first)
		}
		ended <- n
	}()
	<-first
	cancel()
	if n := <-ended; n != 1 {
		t.Errorf("Watch yields %d events, want 1", n)
	}
	for _, err := range t.Store.Watch(ctx, "a", 0) {
		if err != nil {
			t.Errorf("Watch with a context that has ended yields the error %v", err)
		}
	}
}

func endsWhenDeleted(t *harness.Test) { watchedGone(t, t.Store) }

func endsWhenDeletedAcross(t *harness.Test, other skein.Store) { watchedGone(t, other) }

// watchedGone deletes through s what is watched on t.s.
func watchedGone(t *harness.Test, s skein.Store) {
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created())
	wa, wb := watch(t, t.Store, "a", 0), watch(t, t.Store, "b", 0)
	wa.want(1)
	wb.want(1)
	_, err := skein.LifecycleOf(s).Delete(t.Context(), "a", skein.Deletion{})
	t.NoErr("Delete", err)
	_, err = s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User("reborn")}, Again: true})
	t.NoErr("Append", err)
	_, err, ok := wa.next()
	if !ok {
		t.Fatal("Watch ended without an error when the session was deleted")
	}
	t.WantErr("Watch of what was deleted and began anew", err, skein.ErrNotFound)
	if _, _, ok := wa.next(); ok {
		t.Error("Watch goes on after an error")
	}
	t.Add("b", fixture.User("x"))
	wb.want(2)
}

func watchOthers(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"), fixture.User("y"))
	t.Add("f", fixture.Fork("a", 2))
	w := watch(t, t.Store, "f", 0)
	for seq := skein.Seq(1); seq <= 3; seq++ {
		w.want(seq)
	}
	t.Add("a", fixture.User("not for the fork"))
	t.Delete("a")
	t.Bin("f")
	t.Add("f", fixture.Titled("new"))
	w.want(4)
	t.Restore("f")
	t.Add("f", fixture.User("z"))
	w.want(5)
}

func watchLeft(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	for range 100 {
		for range t.Store.Watch(t.Context(), "a", 0) {
			break
		}
	}
	t.Add("a", fixture.User("y"))
	t.NoErr("Close", t.Store.Close())
}
