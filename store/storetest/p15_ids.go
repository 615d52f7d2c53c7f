package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
)

func steadyIDs() []check {
	return []check{
		{name: "rename, pin, tag, move of a project, another key", run: idsStay},
		{name: "the key is taken from one and given to another", run: keyMoves},
		{name: "made in any order, they are as they were given", run: idsAsGiven},
	}
}

func idsStay(t *test) {
	t.add("a", begin(skein.Created{Key: "k", Project: "/p"}), user("x"))
	was := t.session("a")
	t.add("a", titled("new name"), changed(skein.Changed{Key: ptr("k2"), Pinned: ptr(true), Project: ptr("/moved"), Cwd: ptr("/moved/x"), Tags: &[]string{"b", "a", "b"}}))
	s := t.session("a")
	if s.ID != was.ID || s.Created != was.Created || s.Title != "new name" || s.Key != "k2" || !s.Pinned || s.Project != "/moved" || fmt.Sprint(s.Tags) != "[a b]" {
		t.Errorf("Session = %+v, want the same ID and what was set", s)
	}
	equal(t, "Sessions of the project", t.ids(skein.Filter{Project: "/moved", Key: "k2", Pinned: true, Tag: "b"}), []skein.SessionID{"a"})
	equal(t, "Sessions of the repository", t.ids(skein.Filter{Repository: "example.com/a/b"}), nil)
	t.add("a", changed(skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/a/b", Branch: "main"}}))
	t.add("d", begin(skein.Created{Project: "/elsewhere", Checkout: &skein.Checkout{Repository: "example.com/a/b"}}), user("in another clone"))
	t.add("e", begin(skein.Created{Project: "/elsewhere"}), user("of another repository"))
	equal(t, "Sessions of the repository", slices.Sorted(slices.Values(t.ids(skein.Filter{Repository: "example.com/a/b"}))), []skein.SessionID{"a", "d"})
	equal(t, "Sessions of the repository or of a project", slices.Sorted(slices.Values(t.ids(skein.Filter{Repository: "example.com/a/b", Project: "/elsewhere"}))), []skein.SessionID{"a", "d", "e"})
	equal(t, "Sessions of a project or of a repository that has none", slices.Sorted(slices.Values(t.ids(skein.Filter{Repository: "example.com/c", Project: "/elsewhere"}))), []skein.SessionID{"d", "e"})
	equal(t, "Session.Checkout", t.session("a").Checkout, skein.Checkout{Repository: "example.com/a/b", Branch: "main"})
	equal(t, "Sessions of the old project", t.ids(skein.Filter{Project: "/p"}), nil)
	equal(t, "Sessions with the old key", t.ids(skein.Filter{Key: "k"}), nil)
	t.wantFound("project:/moved x", at("a", 2))
	t.wantFound("project:/p x")
	t.add("f", fork("a", 2), user("own"))
	t.bin("a")
	t.restore("a")
	t.delete("a")
	if s := t.session("f"); s.ID != "f" || s.Parent == nil || s.Parent.Session != "a" || s.Base != 2 {
		t.Errorf("the fork is %+v after its parent was deleted, want it as it was", s)
	}
}

func keyMoves(t *test) {
	t.add("a", begin(skein.Created{Key: "k"}))
	t.add("b", created())
	t.refused(skein.Batch{Session: "b", Events: []skein.Event{changed(skein.Changed{Key: ptr("k")})}}, skein.ErrExists)
	t.add("a", changed(skein.Changed{Key: ptr("k")})) // its own
	_, err := t.s.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{changed(skein.Changed{Key: ptr("k:1")})}},
		skein.Batch{Session: "b", Events: []skein.Event{changed(skein.Changed{Key: ptr("k")})}},
	)
	t.noErr("Append that moves a key", err)
	if a, b := t.session("a").Key, t.session("b").Key; a != "k:1" || b != "k" {
		t.Errorf("the keys are %q and %q, want k:1 and k", a, b)
	}
	everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w))
		_, _ = t.s.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{begin(skein.Created{Key: "one"})}})
	})
	if ids := t.ids(skein.Filter{Key: "one", IncludeEmpty: true}); len(ids) != 1 {
		t.Errorf("16 writers gave the key to %v, want one session", ids)
	}
}

func idsAsGiven(t *test) {
	var ids []skein.SessionID
	for i := range 20 {
		id := skein.NewSessionID(time.UnixMilli(int64(noon) - int64(i)*1000))
		t.add(id, created(), user("x"))
		ids = append(ids, id)
	}
	for _, id := range ids {
		t.wantEnd(id, 2)
		if got := t.session(id).ID; got != id {
			t.Errorf("Session(%s) has the ID %s", id, got)
		}
	}
}
