package appends

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func clientIDs() []harness.Check {
	return []harness.Check{
		{Name: "the same answer, whatever has come since", Run: sameAnswer},
		{Name: "the same answer, however much has come since", Run: longAgo},
		{Name: "other content is an error and changes nothing", Run: otherContent},
		{Name: "of a batch the rest is appended", Run: partlyStored},
		{Name: "unique in a session", Run: inSession},
		{Name: "looked up before After and the lease", Run: lookedUpFirst},
		{Name: "what a fork shows has its client IDs", Run: throughFork},
		{Name: "16 writers send the same", Run: func(t *harness.Test) { senders(t, []skein.Store{t.Store}) }},
		{Name: "16 writers at two handles send the same", Two: func(t *harness.Test, other skein.Store) { senders(t, []skein.Store{t.Store, other}) }},
	}
}

func sameAnswer(t *harness.Test) {
	first := skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("c", fixture.Created()), fixture.ID("1", fixture.User("x")), fixture.ID("2", fixture.Titled("t"))}}
	r := t.Append(first)
	if r.New != 3 {
		t.Errorf("first Append = %+v, want 3 new", r)
	}
	t.Add("a", fixture.User("since"), fixture.Changed(skein.Changed{Key: fixture.Ptr("k")}))
	for i := range first.Events {
		first.Events[i].Time += 12345 // a retry may have new times
	}
	again := t.Append(first)
	harness.Equal(t, "second Append", again, skein.Receipt{Session: "a", Last: 5, Seqs: r.Seqs, New: 0})
	t.WantEnd("a", 5)
	if got := t.Events("a")[1].Time; got != fixture.Noon+fixture.Second {
		t.Errorf("the retry changed the time to %v", got)
	}
	long := string(slices.Repeat([]byte("é"), skein.MaxIDLen/2))
	for range 2 {
		t.Add("a", fixture.ID(long, fixture.User("long ID")))
	}
	t.WantEnd("a", 6)
}

func longAgo(t *harness.Test) {
	const events = 1200
	batch := skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("c", fixture.Created())}}
	for i := range events {
		batch.Events = append(batch.Events, fixture.ID(fmt.Sprint("e", i), fixture.User(fmt.Sprint("text ", i))))
	}
	t.Append(batch)
	for i := range 60 {
		t.Add("a", fixture.ID(fmt.Sprint("single", i), fixture.User("x")))
	}
	t.Add("b", fixture.Created())
	for _, n := range []int{0, 1, 2, events / 2, events} {
		b := skein.Batch{Session: "a", Events: batch.Events[n : n+1]}
		harness.Equal(t, harness.Show(b), t.Append(b), skein.Receipt{Session: "a", Last: events + 61, Seqs: []skein.Seq{skein.Seq(n) + 1}})
	}
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("e0", fixture.User("other"))}}, skein.ErrMismatch)
}

func otherContent(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.ID("1", fixture.User("x")))
	for name, e := range map[string]skein.Event{
		"other text":             fixture.User("y"),
		"other kind":             {Kind: "other", Payload: fixture.User("x").Payload},
		"the same, other spaces": {Kind: skein.KindSaid, Payload: []byte(`{ "role":"user","parts":[{"kind":"text","text":"x"}]}`)},
	} {
		t.Log(name)
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("1", e)}}, skein.ErrMismatch)
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("unstored"), fixture.ID("1", e)}}, skein.ErrMismatch)
	}
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("2", fixture.User("unstored")), fixture.ID("2", fixture.User("other"))}}, skein.ErrMismatch)
	t.WantFound("unstored")
	t.WantEnd("a", 2)
}

func partlyStored(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.ID("2", fixture.User("two")))
	r := t.Append(skein.Batch{Session: "a", Events: []skein.Event{
		fixture.ID("1", fixture.User("one")), fixture.ID("2", fixture.User("two")), fixture.User("no ID"), fixture.ID("3", fixture.User("three")), fixture.ID("1", fixture.User("one")),
	}})
	harness.Equal(t, "Append", r, skein.Receipt{Session: "a", Last: 5, Seqs: []skein.Seq{3, 2, 4, 5, 3}, New: 3, Messages: 3})
}

func inSession(t *harness.Test) {
	t.Add("a", fixture.ID("c", fixture.Created()), fixture.ID("1", fixture.User("x")))
	t.Add("b", fixture.ID("c", fixture.Begin(skein.Created{Title: "other"})), fixture.ID("1", fixture.User("other")))
	t.WantEnd("b", 2)
}

func lookedUpFirst(t *harness.Test) {
	evs := []skein.Event{fixture.ID("c", fixture.Created()), fixture.ID("1", fixture.User("x"))}
	t.Append(skein.Batch{Session: "a", After: skein.Fresh, Events: evs})
	l, err := skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{Program: "test"})
	t.NoErr("Acquire", err)
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("since")}})
	for _, b := range []skein.Batch{
		{Session: "a", After: skein.Fresh, Events: evs},
		{Session: "a", After: 1, Events: evs[1:]},
		{Session: "a", After: 77, Events: evs},
		{Session: "a", Fence: 99, Events: evs},
		{Session: "a", Events: evs},
	} {
		r := t.Append(b)
		harness.Equal(t, harness.Show(b), r, skein.Receipt{Session: "a", Last: 3, Seqs: []skein.Seq{1, 2}[2-len(b.Events):]})
	}
	// After and the lease apply to events that are not stored yet.
	more := append(slices.Clone(evs), fixture.ID("2", fixture.User("new")))
	t.Refused(skein.Batch{Session: "a", After: skein.Fresh, Fence: l.Fence, Events: more}, skein.ErrConflict)
	t.Refused(skein.Batch{Session: "a", After: 2, Fence: l.Fence, Events: more}, skein.ErrConflict)
	t.Refused(skein.Batch{Session: "a", Events: more}, skein.ErrLocked)
	t.Refused(skein.Batch{Session: "a", After: 2, Events: []skein.Event{fixture.ID("1", fixture.User("other")), fixture.User("new")}}, skein.ErrMismatch)
	t.Append(skein.Batch{Session: "a", After: 3, Fence: l.Fence, Events: more})
	t.WantEnd("a", 4)
}

func throughFork(t *harness.Test) {
	t.Add("a", fixture.ID("created", fixture.Created()), fixture.ID("1", fixture.User("one")), fixture.ID("2", fixture.User("two")))
	t.Add("f", fixture.ID("created", fixture.Fork("a", 2)))
	if r := t.Append(skein.Batch{Session: "f", Events: []skein.Event{fixture.ID("1", fixture.User("one"))}}); r.New != 0 || r.Seqs[0] != 2 {
		t.Errorf("Append to a fork of what its parent has = %+v, want seq 2 and nothing new", r)
	}
	if r := t.Append(skein.Batch{Session: "f", Events: []skein.Event{fixture.ID("created", fixture.Fork("a", 2))}}); r.New != 0 || r.Seqs[0] != 3 {
		t.Errorf("second Append of the fork's created = %+v, want seq 3 and nothing new", r)
	}
	if r := t.Append(skein.Batch{Session: "f", Events: []skein.Event{fixture.ID("2", fixture.User("other two"))}}); r.New != 1 || r.Last != 4 {
		t.Errorf("Append of what the fork does not show = %+v, want one new event at 4", r)
	}
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.ID("1", fixture.User("other"))}}, skein.ErrMismatch)
	whole := skein.Batch{Session: "g", Events: []skein.Event{fixture.ID("created", fixture.Fork("a", 2)), fixture.ID("1", fixture.User("one")), fixture.ID("3", fixture.User("three")), fixture.ID("3", fixture.User("three"))}}
	if r := t.Append(whole); r.New != 2 || !slices.Equal(r.Seqs, []skein.Seq{3, 2, 4, 4}) {
		t.Errorf("Append of a fork with what its parent has = %+v, want seqs 3, 2, 4 and 4, two of them new", r)
	}
	_, err := skein.LifecycleOf(t.Store).Delete(t.Context(), "a", skein.Deletion{})
	t.NoErr("Delete", err)
	if r := t.Append(skein.Batch{Session: "f", Events: []skein.Event{fixture.ID("1", fixture.User("one")), fixture.ID("created", fixture.Fork("a", 2))}}); r.New != 0 || r.Seqs[0] != 2 || r.Seqs[1] != 3 {
		t.Errorf("Append to the fork after its parent was deleted = %+v, want seqs 2 and 3 and nothing new", r)
	}
}

// senders has four writers each send the same events; two of them send other
// content than the others.
func senders(t *harness.Test, stores []skein.Store) {
	t.Add("a", fixture.Created())
	var mu sync.Mutex
	answers := map[string]skein.Seq{}
	harness.Everyone(16, func(w int) {
		for i := range 20 {
			client, text := fmt.Sprint("c", i), "one"
			if w%4 == 3 {
				text = "two"
			}
			r, err := stores[w%len(stores)].Append(context.Background(), skein.Batch{Session: "a", Events: []skein.Event{fixture.ID(client, fixture.User(text))}})
			if err != nil {
				if !errors.Is(err, skein.ErrMismatch) {
					t.Errorf("Append = %v", err)
				}
				continue
			}
			mu.Lock()
			if seq, ok := answers[client]; ok && seq != r[0].Seqs[0] {
				t.Errorf("client ID %s is answered %d and %d", client, seq, r[0].Seqs[0])
			}
			answers[client] = r[0].Seqs[0]
			mu.Unlock()
		}
	})
	t.WantEnd("a", 21)
	for client, seq := range answers {
		if got := t.Events("a")[seq-1].ClientID; string(got) != client {
			t.Errorf("event %d has the client ID %s, want %s", seq, got, client)
		}
	}
}
