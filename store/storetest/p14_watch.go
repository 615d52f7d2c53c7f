package storetest

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/skein-dev/skein"
)

func watching() []check {
	return []check{
		{name: "what was, then what comes", run: pastThenFuture},
		{name: "taken up again after any seq", run: takenUp},
		{name: "each once and in order, 16 writers, 4 watchers", run: func(t *test) { watchMany(t, t.s) }},
		{name: "each once and in order, through another handle", two: watchMany},
		{name: "never one that is not stored yet", two: neverEarly},
		{name: "ends with ctx, without an error", run: endsWithContext},
		{name: "ends when the session is deleted", run: endsWhenDeleted},
		{name: "ends when it is deleted through another handle", two: endsWhenDeletedAcross},
		{name: "of a fork, of one in the bin, of a title", run: watchOthers},
		{name: "of nobody", run: func(t *test) {
			t.wantErr("Watch", failure(t, t.s.Watch(t.Context(), "nobody", 0)), skein.ErrNotFound)
		}},
		{name: "a watch that was left holds nothing", run: watchLeft},
		{name: "what another process appends", processes: watchProcess},
	}
}

// watched pulls events of a watch.
type watched struct {
	t    *test
	next func() (skein.Event, error, bool)
	stop func()
}

func (t *test) watch(s skein.Store, id skein.SessionID, after skein.Seq) *watched {
	ctx, cancel := context.WithTimeout(t.Context(), late)
	t.Cleanup(cancel)
	next, stop := iter.Pull2(s.Watch(ctx, id, after))
	t.Cleanup(stop)
	return &watched{t, next, stop}
}

// want checks that the next event is the one at seq.
func (w *watched) want(seq skein.Seq) {
	w.t.Helper()
	e, err, ok := w.next()
	if !ok || err != nil || e.Seq != seq {
		w.t.Fatalf("Watch yields event %d (error %v, goes on %v), want %d", e.Seq, err, ok, seq)
	}
}

func pastThenFuture(t *test) {
	t.add("a", created(), user("x"))
	t.add("other", created())
	w := t.watch(t.s, "a", 0)
	w.want(1)
	w.want(2)
	for seq := skein.Seq(3); seq < 20; seq += 2 {
		t.add("other", user("elsewhere"))
		t.add("a", user("one"), titled("two"))
		w.want(seq)
		w.want(seq + 1)
	}
}

func takenUp(t *test) {
	t.add("a", created())
	t.add("a", some(5)...)
	for after := skein.Seq(0); after <= 7; after++ {
		w := t.watch(t.s, "a", after)
		for seq := after + 1; seq <= 6; seq++ {
			w.want(seq)
		}
		w.stop()
	}
	w := t.watch(t.s, "a", 7)
	t.add("a", user("seventh"), user("eighth"))
	w.want(8)
}

// watchMany has 16 writers on t.s and watchers on s.
func watchMany(t *test, s skein.Store) {
	t.add("a", created())
	const each = 10
	end := skein.Seq(1 + 16*each)
	watchers := make(chan error)
	for i := range 4 {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), late)
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
	everyone(16, func(int) {
		for range each {
			if _, err := skein.Add(context.Background(), t.s, "a", user("x")); err != nil {
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

func neverEarly(t *test, other skein.Store) {
	t.add("a", created())
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		for range 50 {
			if _, err := skein.Add(context.Background(), t.s, "a", user("x")); err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	w := t.watch(t.s, "a", 0)
	for seq := skein.Seq(1); seq <= 51; seq++ {
		w.want(seq)
		s, err := other.Session(t.Context(), "a")
		if err != nil || s.Last < seq {
			t.Fatalf("Watch yields event %d; the other handle sees %d (error %v)", seq, s.Last, err)
		}
	}
}

func endsWithContext(t *test) {
	t.add("a", created())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int)
	first := make(chan struct{})
	go func() {
		n := 0
		for _, err := range t.s.Watch(ctx, "a", 0) {
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
	for _, err := range t.s.Watch(ctx, "a", 0) {
		if err != nil {
			t.Errorf("Watch with a context that has ended yields the error %v", err)
		}
	}
}

func endsWhenDeleted(t *test) { watchedGone(t, t.s) }

func endsWhenDeletedAcross(t *test, other skein.Store) { watchedGone(t, other) }

// watchedGone deletes through s what is watched on t.s.
func watchedGone(t *test, s skein.Store) {
	t.add("a", created())
	t.add("b", created())
	wa, wb := t.watch(t.s, "a", 0), t.watch(t.s, "b", 0)
	wa.want(1)
	wb.want(1)
	_, err := skein.LifecycleOf(s).Delete(t.Context(), "a", skein.Deletion{})
	t.noErr("Delete", err)
	_, err = s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{created(), user("reborn")}, Again: true})
	t.noErr("Append", err)
	_, err, ok := wa.next()
	if !ok {
		t.Fatal("Watch ended without an error when the session was deleted")
	}
	t.wantErr("Watch of what was deleted and began anew", err, skein.ErrNotFound)
	if _, _, ok := wa.next(); ok {
		t.Error("Watch goes on after an error")
	}
	t.add("b", user("x"))
	wb.want(2)
}

func watchOthers(t *test) {
	t.add("a", created(), user("x"), user("y"))
	t.add("f", fork("a", 2))
	w := t.watch(t.s, "f", 0)
	for seq := skein.Seq(1); seq <= 3; seq++ {
		w.want(seq)
	}
	t.add("a", user("not for the fork"))
	t.delete("a")
	t.bin("f")
	t.add("f", titled("new"))
	w.want(4)
	t.restore("f")
	t.add("f", user("z"))
	w.want(5)
}

func watchLeft(t *test) {
	t.add("a", created(), user("x"))
	for range 100 {
		for range t.s.Watch(t.Context(), "a", 0) {
			break
		}
	}
	t.add("a", user("y"))
	t.noErr("Close", t.s.Close())
}
