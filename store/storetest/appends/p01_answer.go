package appends

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func answer() []harness.Check {
	return []harness.Check{
		{Name: "nil means that every later read has it", Run: nilMeansStored},
		{Name: "what is added to a new session begins it", Run: addBegins},
		{Name: "ctx that ends at any moment, 1 writer", Run: func(t *harness.Test) { endedContext(t, 1, 200) }},
		{Name: "ctx that ends at any moment, 16 writers", Run: func(t *harness.Test) { endedContext(t, 16, 25) }},
		{Name: "ctx that has ended stops everything", Run: deadContext},
		{Name: "another handle sees it", Two: seenByOther},
		{Name: "it is there when the data is opened again", Two: reopened},
		{Name: "the caller's batches stay as they were", Run: leavesArguments},
	}
}

func nilMeansStored(t *harness.Test) {
	t.Add("a", fixture.Created())
	for i := range 20 {
		word := fmt.Sprintf("needle%d", i)
		r := t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.User(word)}})
		if r.New != 1 || r.Last != r.Seqs[0] || r.Last != skein.Seq(i+2) {
			t.Fatalf("Append = %+v, want one new event at %d", r, i+2)
		}
		t.WantEnd("a", r.Last)
		if n := t.Newest("a", 1, 0); len(n) != 1 || n[0].Seq != r.Last {
			t.Fatalf("Newest = %+v, want the message at %d", n, r.Last)
		}
		t.WantFound(word, harness.At("a", r.Last))
	}
}

func addBegins(t *harness.Test) {
	harness.Everyone(8, func(int) {
		if _, err := skein.Add(context.Background(), t.Store, "a", fixture.User("x")); err != nil {
			t.Errorf("Add to a session that has not begun = %v", err)
		}
	})
	if evs := t.Events("a"); len(evs) != 9 || evs[0].Kind != skein.KindCreated || evs[8].Kind != skein.KindSaid {
		t.Errorf("the session has %d events, first %s, want created and 8 messages", len(evs), evs[0].Kind)
	}
	if _, err := skein.Add(t.Context(), t.Store, "b", fixture.Created(), fixture.User("x")); err != nil {
		t.Errorf("Add that begins with created = %v", err)
	}
	t.WantEnd("b", 2)
}

// endedContext cancels the caller's context at random moments and checks each
// time that the answer agrees with what was stored.
func endedContext(t *harness.Test, writers, each int) {
	var wg sync.WaitGroup
	for w := range writers {
		id := skein.SessionID(fmt.Sprintf("s%d", w))
		t.Add(id, fixture.Created())
		wg.Go(func() {
			last := skein.Seq(1)
			for range each {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(time.Duration(rand.N(500))*time.Microsecond, cancel)
				r, err := t.Store.Append(ctx, skein.Batch{Session: id, Events: []skein.Event{fixture.User("hi"), fixture.User("ho")}})
				timer.Stop()
				cancel()
				if err == nil {
					if last += 2; r[0].Last != last {
						t.Errorf("Append = %+v, want the end at %d", r, last)
					}
				}
				if got, serr := t.Store.Session(context.Background(), id); serr != nil || got.Last != last {
					t.Errorf("Append answered %v, but the session ends at %d (error %v), want %d", err, got.Last, serr, last)
					return
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		id := skein.SessionID(fmt.Sprintf("s%d", w))
		t.WantEnd(id, t.Session(id).Last)
	}
}

func deadContext(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := t.Store.Append(ctx, skein.Batch{Session: "a", Events: []skein.Event{fixture.User("y")}}); err == nil {
		t.Errorf("Append with a context that has ended = %+v, want an error", r)
	}
	if _, err := t.Store.Session(ctx, "a"); err == nil {
		t.Error("Session with a context that has ended gives no error")
	}
	if err := harness.Failure(t, t.Store.Events(ctx, "a", 0)); err == nil {
		t.Error("Events with a context that has ended yields no error")
	}
	t.WantEnd("a", 2)
}

func seenByOther(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	for i := range 20 {
		last := t.Add("a", fixture.User("hi"))
		harness.WantEnd(t, other, "a", last)
		if i%2 == 0 {
			if _, err := skein.Add(t.Context(), other, "a", fixture.Answered("ho")); err != nil {
				t.Fatal(err)
			}
			t.WantEnd("a", last+1)
		}
	}
}

func reopened(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Everything()...)
	want := t.Events("a")
	row := t.Session("a")
	t.NoErr("Close", t.Store.Close())
	t.NoErr("Close", other.Close())
	t.Store = t.Dial()
	harness.Equal(t, "Events after opening again", t.Events("a"), want)
	harness.Equal(t, "Session after opening again", t.Session("a"), row)
	t.WantFound("look", harness.At("a", 2))
}

func leavesArguments(t *harness.Test) {
	evs := fixture.Everything()
	before := string(skein.MustJSON(evs))
	blob := skein.NewBlob([]byte("bytes"))
	b := skein.Batch{Session: "a", Events: append(evs, fixture.Shows("x.png", blob)), Blobs: []skein.Blob{blob}}
	t.Append(b)
	harness.Equal(t, "events after Append", string(skein.MustJSON(b.Events[:len(evs)])), before)
	if b.Events[0].Seq != 0 || b.Events[len(evs)].Seq != 0 {
		t.Error("Append set the seq of the caller's events")
	}
}
