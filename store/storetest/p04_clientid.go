package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/skein-dev/skein"
)

func clientIDs() []check {
	return []check{
		{name: "the same answer, whatever has come since", run: sameAnswer},
		{name: "the same answer, however much has come since", run: longAgo},
		{name: "other content is an error and changes nothing", run: otherContent},
		{name: "of a batch the rest is appended", run: partlyStored},
		{name: "unique in a session", run: inSession},
		{name: "looked up before After and the lease", run: lookedUpFirst},
		{name: "what a fork shows has its client IDs", run: throughFork},
		{name: "16 writers send the same", run: func(t *test) { senders(t, []skein.Store{t.s}) }},
		{name: "16 writers at two handles send the same", two: func(t *test, other skein.Store) { senders(t, []skein.Store{t.s, other}) }},
	}
}

func sameAnswer(t *test) {
	first := skein.Batch{Session: "a", Events: []skein.Event{id("c", created()), id("1", user("x")), id("2", titled("t"))}}
	r := t.append(first)
	if r.New != 3 {
		t.Errorf("first Append = %+v, want 3 new", r)
	}
	t.add("a", user("since"), changed(skein.Changed{Key: ptr("k")}))
	for i := range first.Events {
		first.Events[i].Time += 12345 // a retry may have new times
	}
	again := t.append(first)
	equal(t, "second Append", again, skein.Receipt{Session: "a", Last: 5, Seqs: r.Seqs, New: 0})
	t.wantEnd("a", 5)
	if got := t.events("a")[1].Time; got != noon+second {
		t.Errorf("the retry changed the time to %v", got)
	}
	long := string(slices.Repeat([]byte("é"), skein.MaxIDLen/2))
	for range 2 {
		t.add("a", id(long, user("long ID")))
	}
	t.wantEnd("a", 6)
}

func longAgo(t *test) {
	const events = 1200
	batch := skein.Batch{Session: "a", Events: []skein.Event{id("c", created())}}
	for i := range events {
		batch.Events = append(batch.Events, id(fmt.Sprint("e", i), user(fmt.Sprint("text ", i))))
	}
	t.append(batch)
	for i := range 60 {
		t.add("a", id(fmt.Sprint("single", i), user("x")))
	}
	t.add("b", created())
	for _, n := range []int{0, 1, 2, events / 2, events} {
		b := skein.Batch{Session: "a", Events: batch.Events[n : n+1]}
		equal(t, show(b), t.append(b), skein.Receipt{Session: "a", Last: events + 61, Seqs: []skein.Seq{skein.Seq(n) + 1}})
	}
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{id("e0", user("other"))}}, skein.ErrMismatch)
}

func otherContent(t *test) {
	t.add("a", created(), id("1", user("x")))
	for name, e := range map[string]skein.Event{
		"other text":             user("y"),
		"other kind":             {Kind: "other", Payload: user("x").Payload},
		"the same, other spaces": {Kind: skein.KindSaid, Payload: []byte(`{ "role":"user","parts":[{"kind":"text","text":"x"}]}`)},
	} {
		t.Log(name)
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{id("1", e)}}, skein.ErrMismatch)
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{user("unstored"), id("1", e)}}, skein.ErrMismatch)
	}
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{id("2", user("unstored")), id("2", user("other"))}}, skein.ErrMismatch)
	t.wantFound("unstored")
	t.wantEnd("a", 2)
}

func partlyStored(t *test) {
	t.add("a", created(), id("2", user("two")))
	r := t.append(skein.Batch{Session: "a", Events: []skein.Event{
		id("1", user("one")), id("2", user("two")), user("no ID"), id("3", user("three")), id("1", user("one")),
	}})
	equal(t, "Append", r, skein.Receipt{Session: "a", Last: 5, Seqs: []skein.Seq{3, 2, 4, 5, 3}, New: 3, Messages: 3})
}

func inSession(t *test) {
	t.add("a", id("c", created()), id("1", user("x")))
	t.add("b", id("c", begin(skein.Created{Title: "other"})), id("1", user("other")))
	t.wantEnd("b", 2)
}

func lookedUpFirst(t *test) {
	evs := []skein.Event{id("c", created()), id("1", user("x"))}
	t.append(skein.Batch{Session: "a", After: skein.Fresh, Events: evs})
	l, err := skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{Program: "test"})
	t.noErr("Acquire", err)
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("since")}})
	for _, b := range []skein.Batch{
		{Session: "a", After: skein.Fresh, Events: evs},
		{Session: "a", After: 1, Events: evs[1:]},
		{Session: "a", After: 77, Events: evs},
		{Session: "a", Fence: 99, Events: evs},
		{Session: "a", Events: evs},
	} {
		r := t.append(b)
		equal(t, show(b), r, skein.Receipt{Session: "a", Last: 3, Seqs: []skein.Seq{1, 2}[2-len(b.Events):]})
	}
	// After and the lease apply to events that are not stored yet.
	more := append(slices.Clone(evs), id("2", user("new")))
	t.refused(skein.Batch{Session: "a", After: skein.Fresh, Fence: l.Fence, Events: more}, skein.ErrConflict)
	t.refused(skein.Batch{Session: "a", After: 2, Fence: l.Fence, Events: more}, skein.ErrConflict)
	t.refused(skein.Batch{Session: "a", Events: more}, skein.ErrLocked)
	t.refused(skein.Batch{Session: "a", After: 2, Events: []skein.Event{id("1", user("other")), user("new")}}, skein.ErrMismatch)
	t.append(skein.Batch{Session: "a", After: 3, Fence: l.Fence, Events: more})
	t.wantEnd("a", 4)
}

func throughFork(t *test) {
	t.add("a", id("created", created()), id("1", user("one")), id("2", user("two")))
	t.add("f", id("created", fork("a", 2)))
	if r := t.append(skein.Batch{Session: "f", Events: []skein.Event{id("1", user("one"))}}); r.New != 0 || r.Seqs[0] != 2 {
		t.Errorf("Append to a fork of what its parent has = %+v, want seq 2 and nothing new", r)
	}
	if r := t.append(skein.Batch{Session: "f", Events: []skein.Event{id("created", fork("a", 2))}}); r.New != 0 || r.Seqs[0] != 3 {
		t.Errorf("second Append of the fork's created = %+v, want seq 3 and nothing new", r)
	}
	if r := t.append(skein.Batch{Session: "f", Events: []skein.Event{id("2", user("other two"))}}); r.New != 1 || r.Last != 4 {
		t.Errorf("Append of what the fork does not show = %+v, want one new event at 4", r)
	}
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{id("1", user("other"))}}, skein.ErrMismatch)
	whole := skein.Batch{Session: "g", Events: []skein.Event{id("created", fork("a", 2)), id("1", user("one")), id("3", user("three")), id("3", user("three"))}}
	if r := t.append(whole); r.New != 2 || !slices.Equal(r.Seqs, []skein.Seq{3, 2, 4, 4}) {
		t.Errorf("Append of a fork with what its parent has = %+v, want seqs 3, 2, 4 and 4, two of them new", r)
	}
	_, err := skein.LifecycleOf(t.s).Delete(t.Context(), "a", skein.Deletion{})
	t.noErr("Delete", err)
	if r := t.append(skein.Batch{Session: "f", Events: []skein.Event{id("1", user("one")), id("created", fork("a", 2))}}); r.New != 0 || r.Seqs[0] != 2 || r.Seqs[1] != 3 {
		t.Errorf("Append to the fork after its parent was deleted = %+v, want seqs 2 and 3 and nothing new", r)
	}
}

// senders has four writers each send the same events; two of them send other
// content than the others.
func senders(t *test, stores []skein.Store) {
	t.add("a", created())
	var mu sync.Mutex
	answers := map[string]skein.Seq{}
	everyone(16, func(w int) {
		for i := range 20 {
			client, text := fmt.Sprint("c", i), "one"
			if w%4 == 3 {
				text = "two"
			}
			r, err := stores[w%len(stores)].Append(context.Background(), skein.Batch{Session: "a", Events: []skein.Event{id(client, user(text))}})
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
	t.wantEnd("a", 21)
	for client, seq := range answers {
		if got := t.events("a")[seq-1].ClientID; string(got) != client {
			t.Errorf("event %d has the client ID %s, want %s", seq, got, client)
		}
	}
}
