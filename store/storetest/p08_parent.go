package storetest

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func parentMoves(t *test) {
	t.add("a", begin(skein.Created{Key: "k"}), user("x"), answered("y"))
	t.add("f", fork("a", 2), user("own"))
	want := t.events("f")
	row := t.session("f")
	t.wantFound("session:f x", at("f", 2))
	t.add("a", user("later"), titled("later"), skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: 1}),
		skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Withdrawn: true}))
	t.noErr("Bin", skein.LifecycleOf(t.s).Bin(t.Context(), "a"))
	t.wantShows("f", want)
	equal(t, "Session of the fork", t.session("f"), row)
	equal(t, "Newest of the fork", t.newest("f", 2, 0)[0].Message.Words(), "x")
}

func parentDeleted(t *test) {
	t.add("a", created(), id("1", user("alpha shown")), paid("r", noon, "m", skein.Usage{Output: 3}), user("beta gone"))
	t.add("f", fork("a", 3), user("own"))
	want := t.events("f")
	d := t.delete("a")
	if len(d.Moved) != 1 || d.Moved[0] != "f" || d.Events != 1 {
		t.Errorf("Delete = %+v, want 1 event destroyed and the others moved to f", d)
	}
	t.wantShows("f", want)
	t.wantNewest("f")
	t.wantFound("alpha", at("f", 2))
	t.wantFound("beta")
	equal(t, "Usage", t.usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{
		{Of: "f", Provider: "vendor", Model: "m", Usage: skein.Usage{Output: 3, Requests: 1}},
	})
	if u := t.session("f").Usage; u != (skein.Usage{Output: 3, Requests: 1}) {
		t.Errorf("the new parent's usage is %+v, want that of the request", u)
	}
	t.wantEnd("f", 5)
	t.add("f", user("goes on"))
	t.wantEnd("f", 6)
	t.add("g", fork("f", 2), user("from what moved"))
	t.wantShows("g", join(want[:2], fork("f", 2), user("from what moved")))
	if d := t.delete("f"); d.Events != 4 || len(d.Moved) != 1 {
		t.Errorf("Delete of the new parent = %+v, want 4 events destroyed and 2 moved", d)
	}
	t.wantShows("g", join(want[:2], fork("f", 2), user("from what moved")))
	if d := t.delete("g"); d.Events != 4 || len(d.Moved) != 0 {
		t.Errorf("Delete of the last = %+v, want 4 events destroyed", d)
	}
	t.wantFound("alpha")
}

func twoForks(t *test) {
	for name, places := range map[string][2]skein.Seq{"x": {3, 5}, "y": {5, 3}, "z": {4, 4}} {
		a, f, g := skein.SessionID(name+"a"), skein.SessionID(name+"f"), skein.SessionID(name+"g")
		t.add(a, created(), user("one "+name), user("two "+name), user("three "+name), user("four "+name), user("five "+name))
		t.add(f, fork(a, places[0]), user("own f"))
		t.add(g, fork(a, places[1]), user("own g"))
		wantF, wantG := t.events(f), t.events(g)
		newParent := f
		if places[1] > places[0] {
			newParent = g
		}
		if d := t.delete(a); len(d.Moved) != 1 || d.Moved[0] != newParent || d.Events != 6-int(max(places[0], places[1])) {
			t.Errorf("Delete of the parent of forks at %v = %+v, want what is shown to move to %s", places, d, newParent)
		}
		t.wantShows(f, wantF)
		t.wantShows(g, wantG)
		t.wantFound("one "+name, at(newParent, 2))
		t.wantFound("five " + name)
		t.delete(newParent)
		rest, want := g, wantG
		if newParent == g {
			rest, want = f, wantF
		}
		t.wantShows(rest, want)
		t.wantFound("one "+name, at(rest, 2))
		t.wantNewest(rest)
	}
}

func lineOfForks(t *test) {
	for i, deletions := range [][]skein.SessionID{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "a", "c"}, {"b", "c", "a"}, {"a", "c", "b"}, {"c", "a", "b"}} {
		name := func(id skein.SessionID) skein.SessionID { return skein.SessionID(fmt.Sprint(id, i)) }
		t.add(name("a"), created(), user("one"), user("two"), user("three"))
		t.add(name("b"), fork(name("a"), 3), user("four"), user("five"))
		t.add(name("c"), fork(name("b"), 5), user("six"), user("seven"))
		t.add(name("d"), fork(name("c"), 7), user("eight"))
		want := map[skein.SessionID][]skein.Event{}
		for _, id := range []skein.SessionID{"a", "b", "c", "d"} {
			want[id] = t.events(name(id))
		}
		for _, id := range deletions {
			t.delete(name(id))
			delete(want, id)
			for other, evs := range want {
				if diff := cmp.Diff(evs, t.events(name(other))); diff != "" {
					t.Errorf("deleting %v: after %s, Events(%s) (-want +got):\n%s", deletions, id, other, diff)
				}
			}
		}
		t.wantFound("session:d"+fmt.Sprint(i)+" six", at(name("d"), 7))
		t.wantNewest(name("d"))
	}
}

// pastTheMiddle deletes a fork whose own fork begins before the first's own
// events.
func pastTheMiddle(t *test) {
	t.add("a", created(), user("one"), user("two"), user("three"))
	t.add("b", fork("a", 4), user("gone"))
	t.add("c", fork("b", 2), user("own"))
	t.add("d", fork("b", 3), user("own"))
	wantC, wantD := t.events("c"), t.events("d")
	if d := t.delete("b"); len(d.Moved) != 0 || d.Events != 2 {
		t.Errorf("Delete = %+v, want 2 events destroyed and none moved", d)
	}
	t.wantShows("c", wantC)
	t.wantShows("d", wantD)
	t.wantEnd("a", 4)
	t.delete("a")
	t.wantShows("c", wantC)
	t.wantShows("d", wantD)
	t.delete("d")
	t.wantShows("c", wantC)
	t.wantFound("one", at("c", 2))
	t.wantFound("two")
}
