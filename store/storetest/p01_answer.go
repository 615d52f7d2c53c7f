package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/skein-dev/skein"
)

func answer() []check {
	return []check{
		{name: "nil means that every later read has it", run: nilMeansStored},
		{name: "what is added to a new session begins it", run: addBegins},
		{name: "ctx that ends at any moment, 1 writer", run: func(t *test) { endedContext(t, 1, 200) }},
		{name: "ctx that ends at any moment, 16 writers", run: func(t *test) { endedContext(t, 16, 25) }},
		{name: "ctx that has ended stops everything", run: deadContext},
		{name: "another handle sees it", two: seenByOther},
		{name: "it is there when the data is opened again", two: reopened},
		{name: "the caller's batches stay as they were", run: leavesArguments},
	}
}

func nilMeansStored(t *test) {
	t.add("a", created())
	for i := range 20 {
		word := fmt.Sprintf("needle%d", i)
		r := t.append(skein.Batch{Session: "a", Events: []skein.Event{user(word)}})
		if r.New != 1 || r.Last != r.Seqs[0] || r.Last != skein.Seq(i+2) {
			t.Fatalf("Append = %+v, want one new event at %d", r, i+2)
		}
		t.wantEnd("a", r.Last)
		if n := t.newest("a", 1, 0); len(n) != 1 || n[0].Seq != r.Last {
			t.Fatalf("Newest = %+v, want the message at %d", n, r.Last)
		}
		t.wantFound(word, at("a", r.Last))
	}
}

func addBegins(t *test) {
	everyone(8, func(int) {
		if _, err := skein.Add(context.Background(), t.s, "a", user("x")); err != nil {
			t.Errorf("Add to a session that has not begun = %v", err)
		}
	})
	if evs := t.events("a"); len(evs) != 9 || evs[0].Kind != skein.KindCreated || evs[8].Kind != skein.KindSaid {
		t.Errorf("the session has %d events, first %s, want created and 8 messages", len(evs), evs[0].Kind)
	}
	if _, err := skein.Add(t.Context(), t.s, "b", created(), user("x")); err != nil {
		t.Errorf("Add that begins with created = %v", err)
	}
	t.wantEnd("b", 2)
}

// endedContext cancels the caller's context at random moments and checks each
// time that the answer agrees with what was stored.
func endedContext(t *test, writers, each int) {
	var wg sync.WaitGroup
	for w := range writers {
		id := skein.SessionID(fmt.Sprintf("s%d", w))
		t.add(id, created())
		wg.Go(func() {
			last := skein.Seq(1)
			for range each {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(time.Duration(rand.N(500))*time.Microsecond, cancel)
				r, err := t.s.Append(ctx, skein.Batch{Session: id, Events: []skein.Event{user("hi"), user("ho")}})
				timer.Stop()
				cancel()
				if err == nil {
					if last += 2; r[0].Last != last {
						t.Errorf("Append = %+v, want the end at %d", r, last)
					}
				}
				if got, serr := t.s.Session(context.Background(), id); serr != nil || got.Last != last {
					t.Errorf("Append answered %v, but the session ends at %d (error %v), want %d", err, got.Last, serr, last)
					return
				}
			}
		})
	}
	wg.Wait()
	for w := range writers {
		id := skein.SessionID(fmt.Sprintf("s%d", w))
		t.wantEnd(id, t.session(id).Last)
	}
}

func deadContext(t *test) {
	t.add("a", created(), user("x"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := t.s.Append(ctx, skein.Batch{Session: "a", Events: []skein.Event{user("y")}}); err == nil {
		t.Errorf("Append with a context that has ended = %+v, want an error", r)
	}
	if _, err := t.s.Session(ctx, "a"); err == nil {
		t.Error("Session with a context that has ended gives no error")
	}
	if err := failure(t, t.s.Events(ctx, "a", 0)); err == nil {
		t.Error("Events with a context that has ended yields no error")
	}
	t.wantEnd("a", 2)
}

func seenByOther(t *test, other skein.Store) {
	t.add("a", created())
	for i := range 20 {
		last := t.add("a", user("hi"))
		wantEnd(t, other, "a", last)
		if i%2 == 0 {
			if _, err := skein.Add(t.Context(), other, "a", answered("ho")); err != nil {
				t.Fatal(err)
			}
			t.wantEnd("a", last+1)
		}
	}
}

func reopened(t *test, other skein.Store) {
	t.add("a", everything()...)
	want := t.events("a")
	row := t.session("a")
	t.noErr("Close", t.s.Close())
	t.noErr("Close", other.Close())
	t.s = t.dial()
	equal(t, "Events after opening again", t.events("a"), want)
	equal(t, "Session after opening again", t.session("a"), row)
	t.wantFound("look", at("a", 2))
}

func leavesArguments(t *test) {
	evs := everything()
	before := string(skein.MustJSON(evs))
	blob := skein.NewBlob([]byte("bytes"))
	b := skein.Batch{Session: "a", Events: append(evs, shows("x.png", blob)), Blobs: []skein.Blob{blob}}
	t.append(b)
	equal(t, "events after Append", string(skein.MustJSON(b.Events[:len(evs)])), before)
	if b.Events[0].Seq != 0 || b.Events[len(evs)].Seq != 0 {
		t.Error("Append set the seq of the caller's events")
	}
}
