package storetest

import (
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/lookup"
)

// apart returns the checks that what one user deleted, or has, reveals nothing
// to another.
func apart() []check {
	return []check{
		{name: "what one user destroyed is not destroyed for another", run: ownTombstones},
		{name: "a session that one user destroyed does not come back while another has its ID", run: takenTombstone},
		{name: "a view of all users has everybody's tombstones", run: anybodysTombstones},
		{name: "copied tombstones keep their user", run: copiedTombstones},
		{name: "another user's session is not found as a parent", run: othersParent},
	}
}

// imported returns a batch that imports a session from a file that all users
// have, with the same ID in its own program.
func imported(id skein.SessionID) skein.Batch {
	o := &skein.Origin{Format: "codex", Path: "/shared/x", ID: "o"}
	return skein.Batch{
		Session: id, Events: []skein.Event{begin(skein.Created{Origin: o}), user("x of " + string(id))},
		Import: &skein.Import{File: skein.SourceFile{Format: o.Format, Path: o.Path, ID: o.ID, Session: id}, Records: lines(0, 0, "x")},
	}
}

func ownTombstones(t *test) {
	t.as("ann", func() {
		t.append(imported("a"))
		t.add("s", created(), user("x"))
		t.delete("a")
		t.delete("s")
	})
	for _, who := range []skein.User{"dana", skein.Local} {
		t.as(who, func() {
			for _, id := range []skein.SessionID{"s", "never"} {
				t.refused(skein.Batch{Session: id, Events: []skein.Event{user("late")}}, skein.ErrNotFound)
				t.refused(skein.Batch{Session: id, After: 2, Events: []skein.Event{user("late")}}, skein.ErrConflict)
				t.refused(skein.Batch{Session: id, Import: imported("a").Import}, skein.ErrNotFound)
				t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork(id, 1)}}, skein.ErrNotFound)
			}
		})
	}
	t.as("dana", func() {
		t.append(imported("a"))
		t.wantEnd("a", 2)
		t.delete("a")
		again := imported("a")
		again.Again = true
		t.append(again) // removes dana's own tombstone
		t.delete("a")
	})
	t.as("ann", func() {
		t.refused(imported("a"), skein.ErrDeleted)
		t.refused(imported("a~2"), skein.ErrDeleted)
		t.refused(skein.Batch{Session: "s", Events: []skein.Event{user("late")}}, skein.ErrDeleted)
		t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("s", 1)}}, skein.ErrDeleted)
	})
	t.as("dana", func() { t.refused(imported("a"), skein.ErrDeleted) })
	t.as("bob", func() { t.append(imported("a")) })
}

func takenTombstone(t *test) {
	t.as("ann", func() {
		t.add("s", created(), user("x"))
		t.delete("s")
	})
	t.as("bob", func() { t.add("s", created(), user("bob's")) })
	t.as("ann", func() {
		t.wantGone(t.s, "s")
		t.refused(skein.Batch{Session: "s", Events: []skein.Event{created(), user("late")}}, skein.ErrDeleted)
		t.refused(skein.Batch{Session: "s", Events: []skein.Event{created()}, Again: true}, skein.ErrExists)
		t.refused(skein.Batch{Session: "s", Events: []skein.Event{created(), user("late")}}, skein.ErrDeleted)
	})
	t.add("s", user("as seen by all"))
	t.as("bob", func() { t.wantEnd("s", 3) })
}

func anybodysTombstones(t *test) {
	t.as("ann", func() {
		t.add("s", created())
		t.delete("s")
	})
	t.refused(skein.Batch{Session: "s", Events: []skein.Event{user("late")}}, skein.ErrDeleted)
	t.refused(skein.Batch{Session: "s", Events: []skein.Event{begin(skein.Created{User: "ann"})}}, skein.ErrDeleted)
	t.add("s", begin(skein.Created{User: "bob"}))
	if u := t.session("s").User; u != "bob" {
		t.Errorf("the session is %s's, want bob's", u)
	}
}

func copiedTombstones(t *test) {
	all, ok := skein.PartOf[erase.Tombstones](t.s)
	if !ok {
		return // a store whose tombstones cannot be copied
	}
	want := map[skein.User][sha256.Size]byte{"ann": erase.TombOfID("a"), "bob": erase.TombOfID("b"), "eve": erase.TombOfID("e")}
	t.as("ann", func() {
		t.add("a", created())
		t.delete("a")
		anns, _ := skein.PartOf[erase.Tombstones](t.s)
		t.noErr("PutTombstones as ann", anns.PutTombstones(t.Context(), erase.Tombstone{User: "bob", Hash: want["ann"], At: noon}))
	})
	t.noErr("PutTombstones", all.PutTombstones(t.Context(), erase.Tombstone{User: "bob", Hash: want["bob"], At: noon}, erase.Tombstone{User: "eve", Hash: want["eve"], At: noon}))
	t.noErr("PutTombstones of what is there", all.PutTombstones(t.Context(), erase.Tombstone{User: "bob", Hash: want["bob"], At: noon + 1}))
	got := map[skein.User][sha256.Size]byte{}
	n := 0
	for s, err := range all.Tombstones(t.Context()) {
		t.noErr("Tombstones", err)
		got[s.User] = s.Hash
		if n++; s.User == "bob" && s.At != noon {
			t.Errorf("the tombstone of bob's is of %d, want the first, %d", s.At, noon)
		}
	}
	equal(t, "Tombstones", got, want)
	if n != len(want) {
		t.Errorf("there are %d tombstones, want %d", n, len(want))
	}
	for who, hash := range want {
		t.as(who, func() {
			view, _ := skein.PartOf[erase.Tombstones](t.s)
			for s, err := range view.Tombstones(t.Context()) {
				if err != nil || s.User != who || s.Hash != hash {
					t.Errorf("Tombstones of %s has one of %s, %v", who, s.User, err)
				}
			}
		})
	}
	t.as("bob", func() {
		t.refused(skein.Batch{Session: "b", Events: []skein.Event{created()}}, skein.ErrDeleted)
		t.add("e", created())
	})
}

func othersParent(t *test) {
	t.as("ann", func() { t.add("a", created(), user("x"), user("y")) })
	t.as("bob", func() {
		for _, p := range []skein.SessionID{"a", "never"} {
			t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork(p, 2)}}, skein.ErrNotFound)
			t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork(p, 99)}}, skein.ErrNotFound)
			t.add("c-"+p, child(p), user("x"))
		}
		equal(t, "children of a", t.ids(skein.Filter{Parent: "a"}), []skein.SessionID{"c-a"})
	})
	t.as("ann", func() {
		t.add("own", child("a"), user("x"))
		equal(t, "children of a", t.ids(skein.Filter{Parent: "a"}), []skein.SessionID{"own"})
	})
	equal(t, "children of a, seen by all", t.ids(skein.Filter{Parent: "a"}), []skein.SessionID{"own"})
	equal(t, "children of a session that does not exist", t.ids(skein.Filter{Parent: "never"}), []skein.SessionID{"c-never"})
	for id, want := range map[skein.SessionID]skein.SessionID{"c-a": "c-a", "own": "a"} {
		root, _, err := lookup.Family(t.Context(), t.s, id, 0)
		if err != nil || root.ID != want {
			t.Errorf("the oldest ancestor of %s is %+v, %v, want %s", id, root, err, want)
		}
	}
}
