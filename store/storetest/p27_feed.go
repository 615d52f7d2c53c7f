package storetest

import (
	"context"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
)

func feeding() []check {
	return []check{
		{name: "all sessions' events in the order of storing, then what comes", run: feedAll},
		{name: "taken up again at any cursor", run: feedAgain},
		{name: "from now on", run: feedFromNow},
		{name: "16 writers, 4 readers, each event once", run: func(t *test) { feedMany(t, t.s) }},
		{name: "16 writers, through another handle", two: feedMany},
		{name: "no event is missed after newer ones were deleted", run: feedAfterDelete},
		{name: "of a view only the user's", run: feedView},
		{name: "an invalid cursor", run: func(t *test) {
			for _, c := range []skein.Cursor{"x", "-1", "1 ", "9999999999999999999999"} {
				t.wantErr(fmt.Sprintf("Feed(%q)", c), failure(t, skein.FeedOf(t.s).Feed(t.Context(), c)), skein.ErrInvalid)
			}
		}},
		{name: "ends with ctx, without an error", run: feedEnds},
	}
}

// feedPull pulls events of a feed.
type feedPull struct {
	t    *test
	next func() (skein.Fed, error, bool)
	stop func()
}

func (t *test) feed(s skein.Store, after skein.Cursor) *feedPull {
	ctx, cancel := context.WithTimeout(t.Context(), late)
	t.Cleanup(cancel)
	next, stop := iter.Pull2(skein.FeedOf(s).Feed(ctx, after))
	t.Cleanup(stop)
	return &feedPull{t, next, stop}
}

// want checks that the next event is the one at seq of a session, and returns
// the cursor after it.
func (f *feedPull) want(id skein.SessionID, seq skein.Seq) skein.Cursor {
	f.t.Helper()
	e, err, ok := f.next()
	if !ok || err != nil || e.Session != id || e.Event.Seq != seq {
		f.t.Fatalf("Feed yields event %d of %s (error %v, goes on %v), want %d of %s", e.Event.Seq, e.Session, err, ok, seq, id)
	}
	if stored := all(f.t, f.t.s.Events(f.t.Context(), id, seq-1)); len(stored) == 0 || stored[0].Kind != e.Event.Kind || string(stored[0].Payload) != string(e.Event.Payload) {
		f.t.Errorf("Feed yields %+v, stored is %+v", e.Event, stored)
	}
	return e.Cursor
}

func feedAll(t *test) {
	t.add("a", created(), user("x"))
	t.add("b", created())
	t.add("a", user("y"))
	t.add("f", fork("a", 2))
	f := t.feed(t.s, "")
	f.want("a", 1)
	f.want("a", 2)
	f.want("b", 1)
	f.want("a", 3)
	f.want("f", 3)
	for seq := skein.Seq(2); seq < 20; seq++ {
		t.add("b", user("more"))
		f.want("b", seq)
	}
}

func feedAgain(t *test) {
	t.add("a", created())
	t.add("a", some(5)...)
	cursors := []skein.Cursor{""}
	f := t.feed(t.s, "")
	for seq := skein.Seq(1); seq <= 6; seq++ {
		cursors = append(cursors, f.want("a", seq))
	}
	for i, c := range cursors[:6] {
		f := t.feed(t.s, c)
		for seq := skein.Seq(i) + 1; seq <= 6; seq++ {
			f.want("a", seq)
		}
		f.stop()
	}
	last := t.feed(t.s, cursors[6])
	t.add("a", user("seventh"))
	last.want("a", 7)
}

func feedFromNow(t *test) {
	t.add("a", created())
	f := t.feed(t.s, skein.FeedNow)
	e, err, ok := f.next()
	if !ok || err != nil || e.Session != "" || e.Cursor == "" {
		t.Fatalf("Feed from now yields %+v (error %v, goes on %v), want only a cursor", e, err, ok)
	}
	t.add("a", user("x"))
	f.want("a", 2)
	t.feed(t.s, e.Cursor).want("a", 2)
}

// feedMany has 16 writers on t.s and readers on s.
func feedMany(t *test, s skein.Store) {
	const each = 10
	readers := make(chan error)
	for range 4 {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), late)
			defer cancel()
			last, n := map[skein.SessionID]skein.Seq{}, 0
			for f, err := range skein.FeedOf(s).Feed(ctx, "") {
				if err == nil && f.Event.Seq != last[f.Session]+1 {
					err = fmt.Errorf("Feed yields event %d of %s after %d", f.Event.Seq, f.Session, last[f.Session])
				}
				if err != nil {
					readers <- err
					return
				}
				last[f.Session] = f.Event.Seq
				if n++; n == 16*(each+1) {
					readers <- nil
					return
				}
			}
			readers <- fmt.Errorf("Feed ended after %d events, want %d", n, 16*(each+1))
		}()
	}
	everyone(16, func(i int) {
		id := skein.SessionID(fmt.Sprintf("s%d", i))
		for n := range each + 1 {
			e := user("x")
			if n == 0 {
				e = created()
			}
			if _, err := skein.Add(context.Background(), t.s, id, e); err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	for range 4 {
		if err := <-readers; err != nil {
			t.Error(err)
		}
	}
}

func feedAfterDelete(t *test) {
	t.add("a", created())
	t.add("b", created())
	t.add("b", some(5)...)
	f := t.feed(t.s, "")
	f.want("a", 1)
	var at skein.Cursor
	for seq := skein.Seq(1); seq <= 6; seq++ {
		at = f.want("b", seq)
	}
	t.delete("b")
	t.add("a", user("x"), user("y"))
	f.want("a", 2)
	f.want("a", 3)
	again := t.feed(t.s, at)
	again.want("a", 2)
	again.want("a", 3)
}

func feedView(t *test) {
	t.as("ann", func() { t.add("a", created()) })
	t.as("bob", func() { t.add("b", created(), user("x")) })
	t.as("ann", func() {
		t.add("a", user("mine"))
		f := t.feed(t.s, "")
		f.want("a", 1)
		f.want("a", 2)
	})
	f := t.feed(t.s, "")
	f.want("a", 1)
	f.want("b", 1)
}

func feedEnds(t *test) {
	t.add("a", created())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range skein.FeedOf(t.s).Feed(ctx, "") {
		if n++; err != nil {
			t.Errorf("Feed yields the error %v", err)
		}
		cancel()
	}
	if n != 1 {
		t.Errorf("Feed yields %d events, want 1", n)
	}
}
