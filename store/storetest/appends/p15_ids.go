package appends

import (
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func steadyIDs() []harness.Check {
	return []harness.Check{
		{Name: "rename, pin, tag, move of a project, another key", Run: idsStay},
		{Name: "the key is taken from one and given to another", Run: keyMoves},
		{Name: "what is taken back in the batch that begins the session", Run: keyTakenBack},
		{Name: "made in any order, they are as they were given", Run: idsAsGiven},
	}
}

func idsStay(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k", Project: "/p"}), fixture.User("x"))
	was := t.Session("a")
	t.Add("a", fixture.Titled("new name"), fixture.Changed(skein.Changed{Key: fixture.Ptr("k2"), Pinned: fixture.Ptr(true), Project: fixture.Ptr("/moved"), Cwd: fixture.Ptr("/moved/x"), Tags: &[]string{"b", "a", "b"}}))
	s := t.Session("a")
	if s.ID != was.ID || s.Created != was.Created || s.Title != "new name" || s.Key != "k2" || !s.Pinned || s.Project != "/moved" || fmt.Sprint(s.Tags) != "[a b]" {
		t.Errorf("Session = %+v, want the same ID and what was set", s)
	}
	harness.Equal(t, "Sessions of the project", t.IDs(skein.Filter{Project: "/moved", Key: "k2", Pinned: true, Tag: "b"}), []skein.SessionID{"a"})
	harness.Equal(t, "Sessions of the repository", t.IDs(skein.Filter{Repository: "example.com/a/b"}), nil)
	t.Add("a", fixture.Changed(skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/a/b", Branch: "main"}}))
	t.Add("d", fixture.Begin(skein.Created{Project: "/elsewhere", Checkout: &skein.Checkout{Repository: "example.com/a/b"}}), fixture.User("in another clone"))
	t.Add("e", fixture.Begin(skein.Created{Project: "/elsewhere"}), fixture.User("of another repository"))
	harness.Equal(t, "Sessions of the repository", slices.Sorted(slices.Values(t.IDs(skein.Filter{Repository: "example.com/a/b"}))), []skein.SessionID{"a", "d"})
	harness.Equal(t, "Sessions of the repository or of a project", slices.Sorted(slices.Values(t.IDs(skein.Filter{Repository: "example.com/a/b", Project: "/elsewhere"}))), []skein.SessionID{"a", "d", "e"})
	harness.Equal(t, "Sessions of a project or of a repository that has none", slices.Sorted(slices.Values(t.IDs(skein.Filter{Repository: "example.com/c", Project: "/elsewhere"}))), []skein.SessionID{"d", "e"})
	harness.Equal(t, "Session.Checkout", t.Session("a").Checkout, skein.Checkout{Repository: "example.com/a/b", Branch: "main"})

	found := skein.Checkout{Repository: "example.com/a/c", Branch: "main", Host: "box", LookedUp: "repository host"}
	t.Add("g", fixture.Begin(skein.Created{Project: "/found", Checkout: &found}), fixture.User("in a folder"), fixture.Changed(skein.Changed{Checkout: &skein.Checkout{Branch: "next"}}))
	t.Add("h", fixture.Begin(skein.Created{Checkout: &skein.Checkout{Branch: "pears"}, Parent: &skein.Parent{Session: "g", Seq: 3, Why: skein.Fork}}), fixture.User("in a fork"))
	found.Branch = "next"
	harness.Equal(t, "Session.Checkout after a change of branch in a folder that was looked up", t.Session("g").Checkout, found)
	found.Branch = "pears"
	harness.Equal(t, "Session.Checkout of its fork", t.Session("h").Checkout, found)
	harness.Equal(t, "Sessions of a repository that was looked up", slices.Sorted(slices.Values(t.IDs(skein.Filter{Repository: "example.com/a/c"}))), []skein.SessionID{"g", "h"})
	harness.Equal(t, "Sessions of the old project", t.IDs(skein.Filter{Project: "/p"}), nil)
	harness.Equal(t, "Sessions with the old key", t.IDs(skein.Filter{Key: "k"}), nil)
	t.WantFound("project:/moved x", harness.At("a", 2))
	t.WantFound("project:/p x")
	t.Add("f", fixture.Fork("a", 2), fixture.User("own"))
	t.Bin("a")
	t.Restore("a")
	t.Delete("a")
	if s := t.Session("f"); s.ID != "f" || s.Parent == nil || s.Parent.Session != "a" || s.Base != 2 {
		t.Errorf("the fork is %+v after its parent was deleted, want it as it was", s)
	}
}

func keyTakenBack(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k", Project: "/p"}), fixture.Changed(skein.Changed{Key: fixture.Ptr(""), Project: fixture.Ptr("")}))
	harness.Equal(t, "Sessions with the key", t.IDs(skein.Filter{Key: "k", IncludeEmpty: true}), nil)
	harness.Equal(t, "Sessions of the project", t.IDs(skein.Filter{Project: "/p", IncludeEmpty: true}), nil)
	t.Add("b", fixture.Begin(skein.Created{Key: "k"}), fixture.User("y"))
	harness.Equal(t, "Sessions with the key, in use again", t.IDs(skein.Filter{Key: "k"}), []skein.SessionID{"b"})
}

func keyMoves(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k"}))
	t.Add("b", fixture.Created())
	t.Refused(skein.Batch{Session: "b", Events: []skein.Event{fixture.Changed(skein.Changed{Key: fixture.Ptr("k")})}}, skein.ErrExists)
	t.Add("a", fixture.Changed(skein.Changed{Key: fixture.Ptr("k")})) // its own
	_, err := t.Store.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{fixture.Changed(skein.Changed{Key: fixture.Ptr("k:1")})}},
		skein.Batch{Session: "b", Events: []skein.Event{fixture.Changed(skein.Changed{Key: fixture.Ptr("k")})}},
	)
	t.NoErr("Append that moves a key", err)
	if a, b := t.Session("a").Key, t.Session("b").Key; a != "k:1" || b != "k" {
		t.Errorf("the keys are %q and %q, want k:1 and k", a, b)
	}
	harness.Everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w))
		_, _ = t.Store.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{fixture.Begin(skein.Created{Key: "one"})}})
	})
	if ids := t.IDs(skein.Filter{Key: "one", IncludeEmpty: true}); len(ids) != 1 {
		t.Errorf("16 writers gave the key to %v, want one session", ids)
	}
}

func idsAsGiven(t *harness.Test) {
	var ids []skein.SessionID
	for i := range 20 {
		id := skein.NewSessionID(time.UnixMilli(int64(fixture.Noon) - int64(i)*1000))
		t.Add(id, fixture.Created(), fixture.User("x"))
		ids = append(ids, id)
	}
	for _, id := range ids {
		t.WantEnd(id, 2)
		if got := t.Session(id).ID; got != id {
			t.Errorf("Session(%s) has the ID %s", id, got)
		}
	}
}
