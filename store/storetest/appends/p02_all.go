package appends

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func allOrNone() []harness.Check {
	return []harness.Check{
		{Name: "an event that cannot be stored takes its batch with it", Run: badEvents},
		{Name: "a batch that cannot be stored takes the call with it", Run: badBatch},
		{Name: "several sessions in one call, 16 writers", Run: pairs},
		{Name: "one caller's conflict fails one caller", Run: neighbours},
		{Name: "what failed leaves no trace", Run: traceless},
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
		"no role":                 skein.Say(fixture.Noon, skein.Message{}),
		"second created":          fixture.Created(),
		"rewound beyond the end":  skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 99}),
		"compacts the future":     skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 99}),
		"amends the future":       skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 99, Withdrawn: true}),
		"amends with what does not fit": skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{
			Seq: 2, Payload: []byte(`{"parts":[]}`),
		}),
		"a blob that is not there": fixture.Shows("x.png", skein.NewBlob([]byte("nowhere"))),
		"kind too long":            {Kind: skein.Kind(make([]byte, 65)), Payload: []byte(`{}`)},
		"kind no UTF-8":            {Kind: "\xff", Payload: []byte(`{}`)},
		"time beyond text":         {Kind: skein.KindNoted, Time: 253402300800000, Payload: []byte(`{"name":"x"}`)},
		"client ID too long":       fixture.ID(string(make([]byte, skein.MaxIDLen+1)), fixture.User("x")),
		"key with a newline":       fixture.Changed(skein.Changed{Key: fixture.Ptr("a\nb")}),
	}
}

func badEvents(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("first"))
	for name, bad := range unfit() {
		want := skein.ErrInvalid
		if bad.Kind == skein.KindCreated {
			want = skein.ErrExists
		}
		for _, evs := range [][]skein.Event{{bad}, {fixture.User("unstored"), bad}, {bad, fixture.User("unstored")}} {
			t.Log(name)
			t.Refused(skein.Batch{Session: "a", Events: evs}, want)
		}
	}
	t.Refused(skein.Batch{Session: "new", Events: []skein.Event{fixture.User("unstored")}}, skein.ErrNotFound)
	t.Refused(skein.Batch{Session: "new", Events: []skein.Event{fixture.Created(), fixture.Created()}}, skein.ErrExists)
	t.Refused(skein.Batch{Session: "a"}, skein.ErrInvalid)
	t.Refused(skein.Batch{Session: "a", After: -2, Events: []skein.Event{fixture.User("unstored")}}, skein.ErrInvalid)
	t.WantEnd("a", 2)
	t.WantEnd("new", 0)
	t.WantFound("unstored")
}

func badBatch(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created(), fixture.User("x"))
	_, err := t.Store.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{fixture.User("unstored")}},
		skein.Batch{Session: "c", Events: []skein.Event{fixture.Created(), fixture.User("unstored")}},
		skein.Batch{Session: "b", After: 1, Events: []skein.Event{fixture.User("unstored")}},
	)
	t.WantErr("Append of two good batches and one that conflicts", err, skein.ErrConflict)
	t.WantEnd("a", 1)
	t.WantEnd("b", 2)
	t.WantEnd("c", 0)
	t.WantFound("unstored")
	if r, err := t.Store.Append(t.Context()); err != nil || len(r) != 0 {
		t.Errorf("Append of nothing = %+v, %v, want nothing", r, err)
	}
	r, err := t.Store.Append(t.Context(),
		skein.Batch{Session: "c", Events: []skein.Event{fixture.Created()}},
		skein.Batch{Session: "d", Events: []skein.Event{fixture.Fork("c", 1)}},
		skein.Batch{Session: "c", After: 1, Events: []skein.Event{fixture.User("x")}},
	)
	if err != nil || len(r) != 3 || r[1].Last != 2 || r[2].Last != 2 {
		t.Errorf("Append of batches that follow from each other = %+v, %v", r, err)
	}
}

// pairs has writers append to two sessions in one call, some of them invalid;
// both sessions must get the same.
func pairs(t *harness.Test) {
	t.Add("left", fixture.Created())
	t.Add("right", fixture.Created())
	var stored atomic.Int64
	harness.Everyone(16, func(w int) {
		for i := range 10 {
			e := fixture.User(fmt.Sprintf("%d-%d", w, i))
			right := skein.Batch{Session: "right", Events: []skein.Event{e}}
			if i%3 == 2 {
				right.Events = []skein.Event{e, skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 1 << 40})}
			}
			_, err := t.Store.Append(context.Background(), skein.Batch{Session: "left", Events: []skein.Event{e}}, right)
			switch {
			case err == nil && i%3 == 2, err != nil && !errors.Is(err, skein.ErrInvalid):
				t.Errorf("Append %d = %v", i, err)
			case err == nil:
				stored.Add(1)
			}
		}
	})
	t.WantEnd("left", skein.Seq(stored.Load())+1)
	left, right := t.Events("left"), t.Events("right")
	harness.Equal(t, "events of the right session", right, left)
}

func neighbours(t *harness.Test) {
	for w := range 16 {
		t.Add(skein.SessionID(fmt.Sprint("s", w)), fixture.Created())
	}
	harness.Everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w))
		for i := range 10 {
			b := skein.Batch{Session: id, Events: []skein.Event{fixture.User("x")}}
			var want error
			if w%4 == 3 {
				b.After, want = 99, skein.ErrConflict
			}
			if _, err := t.Store.Append(context.Background(), b); !errors.Is(err, want) {
				t.Errorf("Append %d of writer %d = %v, want %v", i, w, err, want)
			}
		}
	})
	for w := range 16 {
		want := skein.Seq(11)
		if w%4 == 3 {
			want = 1
		}
		t.WantEnd(skein.SessionID(fmt.Sprint("s", w)), want)
	}
}

// traceless makes a batch fail that sets everything that can be set.
func traceless(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	old := skein.SourceFile{Format: "f", Path: "/old", Session: "a", Offset: 4}
	t.Append(skein.Batch{Session: "a", Import: &skein.Import{File: old, Records: fixture.Lines(0, 0, "one\n")}})
	blob := skein.NewBlob([]byte("unstored"))
	im := &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "a"}, Records: []skein.Record{{Raw: []byte("unstored")}}}
	evs := []skein.Event{
		fixture.ID("c1", fixture.Paid("r1", fixture.Noon, "m", skein.Usage{Input: 1000})), fixture.Shows("x.png", blob),
		fixture.Changed(skein.Changed{Key: fixture.Ptr("k")}), fixture.Titled("unstored"),
		skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: "c", State: skein.Running}),
		fixture.Created(),
	}
	t.Refused(skein.Batch{Session: "a", Events: evs, Blobs: []skein.Blob{blob}, Import: im}, skein.ErrExists)
	_, err := t.Store.Append(t.Context(),
		skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/old"}, Records: fixture.Lines(0, 0, "two\n", "three\n"), Forget: true}},
		skein.Batch{Session: "a", After: 1, Events: evs[:1]})
	t.WantErr("Append of records and of a batch that conflicts", err, skein.ErrConflict)
	harness.Equal(t, "Files", harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")), []skein.SourceFile{old})
	harness.Equal(t, "Records", t.Records("f", "/old", 0), fixture.Lines(0, 0, "one\n"))
	harness.Equal(t, "Usage", t.Total(skein.UsageQuery{}), skein.Usage{})
	t.WantFound("unstored")
	_, err = t.Store.Blob(t.Context(), "a", blob.Hash)
	t.WantErr("Blob", err, skein.ErrNotFound)
	_, err = skein.SourcesOf(t.Store).File(t.Context(), "f", "/p")
	t.WantErr("File", err, skein.ErrNotFound)
	found, err := skein.SourcesOf(t.Store).Find(t.Context(), []skein.ClientID{"c1"})
	if err != nil || len(found) != 0 {
		t.Errorf("Find = %v, %v, want nothing", found, err)
	}
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Shows("x.png", blob)}}, skein.ErrInvalid)
	t.Add("b", fixture.Begin(skein.Created{Key: "k"}))
	if r := t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("c1", fixture.User("other"))}}); r.New != 1 {
		t.Errorf("Append with a client ID that failed before = %+v, want one new event", r)
	}
	t.Add("a", fixture.Paid("r1", fixture.Noon, "m", skein.Usage{Input: 10}))
	harness.Equal(t, "Usage of a request that failed before", t.Total(skein.UsageQuery{}), skein.Usage{Input: 10, Requests: 1})
}
