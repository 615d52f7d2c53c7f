package reads

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func feeding() []harness.Check {
	return []harness.Check{
		{Name: "all sessions' events in the order of storing, then what comes", Run: feedAll},
		{Name: "taken up again at any cursor", Run: feedAgain},
		{Name: "from now on", Run: feedFromNow},
		{Name: "16 writers, 4 readers, each event once", Run: func(t *harness.Test) { feedMany(t, t.Store) }},
		{Name: "16 writers, through another handle", Two: feedMany},
		{Name: "no event is missed after newer ones were deleted", Run: feedAfterDelete},
		{Name: "of a view only the user's", Run: feedView},
		{Name: "an invalid cursor", Run: func(t *harness.Test) {
			for _, c := range []skein.Cursor{"x", "-1", "1 ", "9999999999999999999999"} {
				t.WantErr(fmt.Sprintf("Feed(%q)", c), harness.Failure(t, skein.FeedOf(t.Store).Feed(t.Context(), c)), skein.ErrInvalid)
			}
		}},
		{Name: "ends with ctx, without an error", Run: feedEnds},
	}
}

func feedAll(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	t.Add("b", fixture.Created())
	t.Add("a", fixture.User("y"))
	t.Add("f", fixture.Fork("a", 2))
	f := t.Feed(t.Store, "")
	f.Want("a", 1)
	f.Want("a", 2)
	f.Want("b", 1)
	f.Want("a", 3)
	f.Want("f", 3)
	for seq := skein.Seq(2); seq < 20; seq++ {
		t.Add("b", fixture.User("more"))
		f.Want("b", seq)
	}
}

func feedAgain(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Some(5)...)
	cursors := []skein.Cursor{""}
	f := t.Feed(t.Store, "")
	for seq := skein.Seq(1); seq <= 6; seq++ {
		cursors = append(cursors, f.Want("a", seq))
	}
	for i, c := range cursors[:6] {
		f := t.Feed(t.Store, c)
		for seq := skein.Seq(i) + 1; seq <= 6; seq++ {
			f.Want("a", seq)
		}
		f.Stop()
	}
	last := t.Feed(t.Store, cursors[6])
	t.Add("a", fixture.User("seventh"))
	last.Want("a", 7)
}

func feedFromNow(t *harness.Test) {
	t.Add("a", fixture.Created())
	f := t.Feed(t.Store, skein.FeedNow)
	e, err, ok := f.Next()
	if !ok || err != nil || e.Session != "" || e.Cursor == "" {
		t.Fatalf("Feed from now yields %+v (error %v, goes on %v), want only a cursor", e, err, ok)
	}
	t.Add("a", fixture.User("x"))
	f.Want("a", 2)
	t.Feed(t.Store, e.Cursor).Want("a", 2)
}

// feedMany has 16 writers on t.s and readers on s.
func feedMany(t *harness.Test, s skein.Store) {
	const each = 10
	readers := make(chan error)
	for range 4 {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), harness.Late)
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
	harness.Everyone(16, func(i int) {
		id := skein.SessionID(fmt.Sprintf("s%d", i))
		for n := range each + 1 {
			e := fixture.User("x")
			if n == 0 {
				e = fixture.Created()
			}
			if _, err := skein.Add(context.Background(), t.Store, id, e); err != nil {
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

func feedAfterDelete(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created())
	t.Add("b", fixture.Some(5)...)
	f := t.Feed(t.Store, "")
	f.Want("a", 1)
	var at skein.Cursor
	for seq := skein.Seq(1); seq <= 6; seq++ {
		at = f.Want("b", seq)
	}
	t.Delete("b")
	t.Add("a", fixture.User("x"), fixture.User("y"))
	f.Want("a", 2)
	f.Want("a", 3)
	again := t.Feed(t.Store, at)
	again.Want("a", 2)
	again.Want("a", 3)
}

func feedView(t *harness.Test) {
	t.As("ann", func() { t.Add("a", fixture.Created()) })
	t.As("bob", func() { t.Add("b", fixture.Created(), fixture.User("x")) })
	t.As("ann", func() {
		t.Add("a", fixture.User("mine"))
		f := t.Feed(t.Store, "")
		f.Want("a", 1)
		f.Want("a", 2)
	})
	f := t.Feed(t.Store, "")
	f.Want("a", 1)
	f.Want("b", 1)
}

func feedEnds(t *harness.Test) {
	t.Add("a", fixture.Created())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range skein.FeedOf(t.Store).Feed(ctx, "") {
		if n++; err != nil {
			t.Errorf("Feed yields the error %v", err)
		}
		cancel()
	}
	if n != 1 {
		t.Errorf("Feed yields %d events, want 1", n)
	}
}
