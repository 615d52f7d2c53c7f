package removal

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func parentMoves(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k"}), fixture.User("x"), fixture.Answered("y"))
	t.Add("f", fixture.Fork("a", 2), fixture.User("own"))
	want := t.Events("f")
	row := t.Session("f")
	t.WantFound("session:f x", harness.At("f", 2))
	t.Add("a", fixture.User("later"), fixture.Titled("later"), skein.NewEvent(skein.KindRewound, fixture.Noon, skein.Rewound{To: 1}),
		skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 2, Withdrawn: true}))
	t.NoErr("Bin", skein.LifecycleOf(t.Store).Bin(t.Context(), "a"))
	wantShows(t, "f", want)
	harness.Equal(t, "Session of the fork", t.Session("f"), row)
	harness.Equal(t, "Newest of the fork", t.Newest("f", 2, 0)[0].Message.Words(), "x")
}

func parentDeleted(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.ID("1", fixture.User("alpha shown")), fixture.Paid("r", fixture.Noon, "m", skein.Usage{Output: 3}), fixture.User("beta gone"))
	t.Add("f", fixture.Fork("a", 3), fixture.User("own"))
	want := t.Events("f")
	d := t.Delete("a")
	if len(d.Moved) != 1 || d.Moved[0] != "f" || d.Events != 1 {
		t.Errorf("Delete = %+v, want 1 event destroyed and the others moved to f", d)
	}
	wantShows(t, "f", want)
	t.WantNewest("f")
	t.WantFound("alpha", harness.At("f", 2))
	t.WantFound("beta")
	harness.Equal(t, "Usage", t.Usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{
		{Of: "f", Provider: "vendor", Model: "m", Usage: skein.Usage{Output: 3, Requests: 1}},
	})
	if u := t.Session("f").Usage; u != (skein.Usage{Output: 3, Requests: 1}) {
		t.Errorf("the new parent's usage is %+v, want that of the request", u)
	}
	t.WantEnd("f", 5)
	t.Add("f", fixture.User("goes on"))
	t.WantEnd("f", 6)
	t.Add("g", fixture.Fork("f", 2), fixture.User("from what moved"))
	wantShows(t, "g", join(want[:2], fixture.Fork("f", 2), fixture.User("from what moved")))
	if d := t.Delete("f"); d.Events != 4 || len(d.Moved) != 1 {
		t.Errorf("Delete of the new parent = %+v, want 4 events destroyed and 2 moved", d)
	}
	wantShows(t, "g", join(want[:2], fixture.Fork("f", 2), fixture.User("from what moved")))
	if d := t.Delete("g"); d.Events != 4 || len(d.Moved) != 0 {
		t.Errorf("Delete of the last = %+v, want 4 events destroyed", d)
	}
	t.WantFound("alpha")
}

func twoForks(t *harness.Test) {
	for name, places := range map[string][2]skein.Seq{"x": {3, 5}, "y": {5, 3}, "z": {4, 4}} {
		a, f, g := skein.SessionID(name+"a"), skein.SessionID(name+"f"), skein.SessionID(name+"g")
		t.Add(a, fixture.Created(), fixture.User("one "+name), fixture.User("two "+name), fixture.User("three "+name), fixture.User("four "+name), fixture.User("five "+name))
		t.Add(f, fixture.Fork(a, places[0]), fixture.User("own f"))
		t.Add(g, fixture.Fork(a, places[1]), fixture.User("own g"))
		wantF, wantG := t.Events(f), t.Events(g)
		newParent := f
		if places[1] > places[0] {
			newParent = g
		}
		if d := t.Delete(a); len(d.Moved) != 1 || d.Moved[0] != newParent || d.Events != 6-int(max(places[0], places[1])) {
			t.Errorf("Delete of the parent of forks at %v = %+v, want what is shown to move to %s", places, d, newParent)
		}
		wantShows(t, f, wantF)
		wantShows(t, g, wantG)
		t.WantFound("one "+name, harness.At(newParent, 2))
		t.WantFound("five " + name)
		t.Delete(newParent)
		rest, want := g, wantG
		if newParent == g {
			rest, want = f, wantF
		}
		wantShows(t, rest, want)
		t.WantFound("one "+name, harness.At(rest, 2))
		t.WantNewest(rest)
	}
}

func lineOfForks(t *harness.Test) {
	for i, deletions := range [][]skein.SessionID{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}, {"b", "c", "a"}, {"a", "c", "b"}, {"c", "a", "b"}} {
		name := func(id skein.SessionID) skein.SessionID { return skein.SessionID(fmt.Sprint(id, i)) }
		t.Add(name("a"), fixture.Created(), fixture.User("one"), fixture.User("two"), fixture.User("three"))
		t.Add(name("b"), fixture.Fork(name("a"), 3), fixture.User("four"), fixture.User("five"))
		t.Add(name("c"), fixture.Fork(name("b"), 5), fixture.User("six"), fixture.User("seven"))
		t.Add(name("d"), fixture.Fork(name("c"), 7), fixture.User("eight"))
		want := map[skein.SessionID][]skein.Event{}
		for _, id := range []skein.SessionID{"a", "b", "c", "d"} {
			want[id] = t.Events(name(id))
		}
		for _, id := range deletions {
			t.Delete(name(id))
			delete(want, id)
			for other, evs := range want {
				if diff := cmp.Diff(evs, t.Events(name(other))); diff != "" {
					t.Errorf("deleting %v: after %s, Events(%s) (-want +got):\n%s", deletions, id, other, diff)
				}
			}
		}
		t.WantFound("session:d"+fmt.Sprint(i)+" six", harness.At(name("d"), 7))
		t.WantNewest(name("d"))
	}
}

// pastTheMiddle deletes a fork whose own fork begins before the first's own
// events.
func pastTheMiddle(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.User("two"), fixture.User("three"))
	t.Add("b", fixture.Fork("a", 4), fixture.User("gone"))
	t.Add("c", fixture.Fork("b", 2), fixture.User("own"))
	t.Add("d", fixture.Fork("b", 3), fixture.User("own"))
	wantC, wantD := t.Events("c"), t.Events("d")
	if d := t.Delete("b"); len(d.Moved) != 0 || d.Events != 2 {
		t.Errorf("Delete = %+v, want 2 events destroyed and none moved", d)
	}
	wantShows(t, "c", wantC)
	wantShows(t, "d", wantD)
	t.WantEnd("a", 4)
	t.Delete("a")
	wantShows(t, "c", wantC)
	wantShows(t, "d", wantD)
	t.Delete("d")
	wantShows(t, "c", wantC)
	t.WantFound("one", harness.At("c", 2))
	t.WantFound("two")
}
