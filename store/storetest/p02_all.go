package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/skein-dev/skein"
)

func allOrNone() []check {
	return []check{
		{name: "an event that cannot be stored takes its batch with it", run: badEvents},
		{name: "a batch that cannot be stored takes the call with it", run: badBatch},
		{name: "several sessions in one call, 16 writers", run: pairs},
		{name: "one caller's conflict fails one caller", run: neighbours},
		{name: "what failed leaves no trace", run: traceless},
	}
}

// unfit returns events that no store accepts after created and one message.
func unfit() map[string]skein.Event {
	return map[string]skein.Event{
		"no kind":                 {Payload: []byte(`{}`)},
		"payload no JSON":         {Kind: skein.KindNoted, Payload: []byte(`{"a":`)},
		"payload no object":       {Kind: skein.KindNoted, Payload: []byte(`[]`)},
		"payload empty":           {Kind: skein.KindNoted},
		"payload not of its kind": {Kind: skein.KindSaid, Payload: []byte(`{"role":"user","parts":{}}`)},
		"no role":                 skein.Say(noon, skein.Message{}),
		"second created":          created(),
		"rewound beyond the end":  skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 99}),
		"compacts the future":     skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 99}),
		"amends the future":       skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 99, Withdrawn: true}),
		"amends with what does not fit": skein.NewEvent(skein.KindAmended, noon, skein.Amended{
			Seq: 2, Payload: []byte(`{"parts":[]}`),
		}),
		"a blob that is not there": shows("x.png", skein.NewBlob([]byte("nowhere"))),
		"kind too long":            {Kind: skein.Kind(make([]byte, 65)), Payload: []byte(`{}`)},
		"kind no UTF-8":            {Kind: "\xff", Payload: []byte(`{}`)},
		"time beyond text":         {Kind: skein.KindNoted, Time: 253402300800000, Payload: []byte(`{"name":"x"}`)},
		"client ID too long":       id(string(make([]byte, skein.MaxIDLen+1)), user("x")),
		"key with a newline":       changed(skein.Changed{Key: ptr("a\nb")}),
	}
}

func ptr[T any](v T) *T { return &v }

func badEvents(t *test) {
	t.add("a", created(), user("first"))
	for name, bad := range unfit() {
		want := skein.ErrInvalid
		if bad.Kind == skein.KindCreated {
			want = skein.ErrExists
		}
		for _, evs := range [][]skein.Event{{bad}, {user("unstored"), bad}, {bad, user("unstored")}} {
			t.Log(name)
			t.refused(skein.Batch{Session: "a", Events: evs}, want)
		}
	}
	t.refused(skein.Batch{Session: "new", Events: []skein.Event{user("unstored")}}, skein.ErrNotFound)
	t.refused(skein.Batch{Session: "new", Events: []skein.Event{created(), created()}}, skein.ErrExists)
	t.refused(skein.Batch{Session: "a"}, skein.ErrInvalid)
	t.refused(skein.Batch{Session: "a", After: -2, Events: []skein.Event{user("unstored")}}, skein.ErrInvalid)
	t.wantEnd("a", 2)
	t.wantEnd("new", 0)
	t.wantFound("unstored")
}

func badBatch(t *test) {
	t.add("a", created())
	t.add("b", created(), user("x"))
	_, err := t.s.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{user("unstored")}},
		skein.Batch{Session: "c", Events: []skein.Event{created(), user("unstored")}},
		skein.Batch{Session: "b", After: 1, Events: []skein.Event{user("unstored")}},
	)
	t.wantErr("Append of two good batches and one that conflicts", err, skein.ErrConflict)
	t.wantEnd("a", 1)
	t.wantEnd("b", 2)
	t.wantEnd("c", 0)
	t.wantFound("unstored")
	if r, err := t.s.Append(t.Context()); err != nil || len(r) != 0 {
		t.Errorf("Append of nothing = %+v, %v, want nothing", r, err)
	}
	r, err := t.s.Append(t.Context(),
		skein.Batch{Session: "c", Events: []skein.Event{created()}},
		skein.Batch{Session: "d", Events: []skein.Event{fork("c", 1)}},
		skein.Batch{Session: "c", After: 1, Events: []skein.Event{user("x")}},
	)
	if err != nil || len(r) != 3 || r[1].Last != 2 || r[2].Last != 2 {
		t.Errorf("Append of batches that follow from each other = %+v, %v", r, err)
	}
}

// pairs has writers append to two sessions in one call, some of them invalid;
// both sessions must get the same.
func pairs(t *test) {
	t.add("left", created())
	t.add("right", created())
	var stored atomic.Int64
	everyone(16, func(w int) {
		for i := range 10 {
			e := user(fmt.Sprintf("%d-%d", w, i))
			right := skein.Batch{Session: "right", Events: []skein.Event{e}}
			if i%3 == 2 {
				right.Events = []skein.Event{e, skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 1 << 40})}
			}
			_, err := t.s.Append(context.Background(), skein.Batch{Session: "left", Events: []skein.Event{e}}, right)
			switch {
			case err == nil && i%3 == 2, err != nil && !errors.Is(err, skein.ErrInvalid):
				t.Errorf("Append %d = %v", i, err)
			case err == nil:
				stored.Add(1)
			}
		}
	})
	t.wantEnd("left", skein.Seq(stored.Load())+1)
	left, right := t.events("left"), t.events("right")
	equal(t, "events of the right session", right, left)
}

// everyone runs f as n writers.
func everyone(n int, f func(w int)) {
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}

func neighbours(t *test) {
	for w := range 16 {
		t.add(skein.SessionID(fmt.Sprint("s", w)), created())
	}
	everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w))
		for i := range 10 {
			b := skein.Batch{Session: id, Events: []skein.Event{user("x")}}
			var want error
			if w%4 == 3 {
				b.After, want = 99, skein.ErrConflict
			}
			if _, err := t.s.Append(context.Background(), b); !errors.Is(err, want) {
				t.Errorf("Append %d of writer %d = %v, want %v", i, w, err, want)
			}
		}
	})
	for w := range 16 {
		want := skein.Seq(11)
		if w%4 == 3 {
			want = 1
		}
		t.wantEnd(skein.SessionID(fmt.Sprint("s", w)), want)
	}
}

// traceless makes a batch fail that sets everything that can be set.
func traceless(t *test) {
	t.add("a", created(), user("x"))
	old := skein.SourceFile{Format: "f", Path: "/old", Session: "a", Offset: 4}
	t.append(skein.Batch{Session: "a", Import: &skein.Import{File: old, Records: lines(0, 0, "one\n")}})
	blob := skein.NewBlob([]byte("unstored"))
	im := &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "a"}, Records: []skein.Record{{Raw: []byte("unstored")}}}
	evs := []skein.Event{
		id("c1", paid("r1", noon, "m", skein.Usage{Input: 1000})), shows("x.png", blob),
		changed(skein.Changed{Key: ptr("k")}), titled("unstored"),
		skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c", State: skein.Running}),
		created(),
	}
	t.refused(skein.Batch{Session: "a", Events: evs, Blobs: []skein.Blob{blob}, Import: im}, skein.ErrExists)
	_, err := t.s.Append(t.Context(),
		skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/old"}, Records: lines(0, 0, "two\n", "three\n"), Forget: true}},
		skein.Batch{Session: "a", After: 1, Events: evs[:1]})
	t.wantErr("Append of records and of a batch that conflicts", err, skein.ErrConflict)
	equal(t, "Files", all(t, skein.SourcesOf(t.s).Files(t.Context(), "")), []skein.SourceFile{old})
	equal(t, "Records", t.records("f", "/old", 0), lines(0, 0, "one\n"))
	equal(t, "Usage", t.total(skein.UsageQuery{}), skein.Usage{})
	t.wantFound("unstored")
	_, err = t.s.Blob(t.Context(), "a", blob.Hash)
	t.wantErr("Blob", err, skein.ErrNotFound)
	_, err = skein.SourcesOf(t.s).File(t.Context(), "f", "/p")
	t.wantErr("File", err, skein.ErrNotFound)
	found, err := skein.SourcesOf(t.s).Find(t.Context(), []skein.ClientID{"c1"})
	if err != nil || len(found) != 0 {
		t.Errorf("Find = %v, %v, want nothing", found, err)
	}
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{shows("x.png", blob)}}, skein.ErrInvalid)
	t.add("b", begin(skein.Created{Key: "k"}))
	if r := t.append(skein.Batch{Session: "a", Events: []skein.Event{id("c1", user("other"))}}); r.New != 1 {
		t.Errorf("Append with a client ID that failed before = %+v, want one new event", r)
	}
	t.add("a", paid("r1", noon, "m", skein.Usage{Input: 10}))
	equal(t, "Usage of a request that failed before", t.total(skein.UsageQuery{}), skein.Usage{Input: 10, Requests: 1})
}
