package whole

import (
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// apart returns the checks that what one user deleted, or has, reveals nothing
// to another.
func apart() []harness.Check {
	return []harness.Check{
		{Name: "what one user destroyed is not destroyed for another", Run: ownTombstones},
		{Name: "a session that one user destroyed does not come back while another has its ID", Run: takenTombstone},
		{Name: "a view of all users has everybody's tombstones", Run: anybodysTombstones},
		{Name: "copied tombstones keep their user", Run: copiedTombstones},
		{Name: "another user's session is not found as a parent", Run: othersParent},
	}
}

// imported returns a batch that imports a session from a file that all users
// have, with the same ID in its own program.
func imported(id skein.SessionID) skein.Batch {
	o := &skein.Origin{Format: "codex", Path: "/shared/x", ID: "o"}
	return skein.Batch{
		Session: id, Events: []skein.Event{fixture.Begin(skein.Created{Origin: o}), fixture.User("x of " + string(id))},
		Import: &skein.Import{File: skein.SourceFile{Format: o.Format, Path: o.Path, ID: o.ID, Session: id}, Records: fixture.Lines(0, 0, "x")},
	}
}

func ownTombstones(t *harness.Test) {
	t.As("ann", func() {
		t.Append(imported("a"))
		t.Add("s", fixture.Created(), fixture.User("x"))
		t.Delete("a")
		t.Delete("s")
	})
	for _, who := range []skein.User{"dana", skein.Local} {
		t.As(who, func() {
			for _, id := range []skein.SessionID{"s", "never"} {
				t.Refused(skein.Batch{Session: id, Events: []skein.Event{fixture.User("late")}}, skein.ErrNotFound)
				t.Refused(skein.Batch{Session: id, After: 2, Events: []skein.Event{fixture.User("late")}}, skein.ErrConflict)
				t.Refused(skein.Batch{Session: id, Import: imported("a").Import}, skein.ErrNotFound)
				t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork(id, 1)}}, skein.ErrNotFound)
			}
		})
	}
	t.As("dana", func() {
		t.Append(imported("a"))
		t.WantEnd("a", 2)
		t.Delete("a")
		again := imported("a")
		again.Again = true
		t.Append(again) // removes dana's own tombstone
		t.Delete("a")
	})
	t.As("ann", func() {
		t.Refused(imported("a"), skein.ErrDeleted)
		t.Refused(imported("a~2"), skein.ErrDeleted)
		t.Refused(skein.Batch{Session: "s", Events: []skein.Event{fixture.User("late")}}, skein.ErrDeleted)
		t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("s", 1)}}, skein.ErrDeleted)
	})
	t.As("dana", func() { t.Refused(imported("a"), skein.ErrDeleted) })
	t.As("bob", func() { t.Append(imported("a")) })
}

func takenTombstone(t *harness.Test) {
	t.As("ann", func() {
		t.Add("s", fixture.Created(), fixture.User("x"))
		t.Delete("s")
	})
	t.As("bob", func() { t.Add("s", fixture.Created(), fixture.User("bob's")) })
	t.As("ann", func() {
		t.WantGone(t.Store, "s")
		t.Refused(skein.Batch{Session: "s", Events: []skein.Event{fixture.Created(), fixture.User("late")}}, skein.ErrDeleted)
		t.Refused(skein.Batch{Session: "s", Events: []skein.Event{fixture.Created()}, Again: true}, skein.ErrExists)
		t.Refused(skein.Batch{Session: "s", Events: []skein.Event{fixture.Created(), fixture.User("late")}}, skein.ErrDeleted)
	})
	t.Add("s", fixture.User("as seen by all"))
	t.As("bob", func() { t.WantEnd("s", 3) })
}

func anybodysTombstones(t *harness.Test) {
	t.As("ann", func() {
		t.Add("s", fixture.Created())
		t.Delete("s")
	})
	t.Refused(skein.Batch{Session: "s", Events: []skein.Event{fixture.User("late")}}, skein.ErrDeleted)
	t.Refused(skein.Batch{Session: "s", Events: []skein.Event{fixture.Begin(skein.Created{User: "ann"})}}, skein.ErrDeleted)
	t.Add("s", fixture.Begin(skein.Created{User: "bob"}))
	if u := t.Session("s").User; u != "bob" {
		t.Errorf("the session is %s's, want bob's", u)
	}
}

func copiedTombstones(t *harness.Test) {
	all, ok := skein.PartOf[erase.Tombstones](t.Store)
	if !ok {
		return // a store whose tombstones cannot be copied
	}
	want := map[skein.User][sha256.Size]byte{"ann": erase.TombOfID("a"), "bob": erase.TombOfID("b"), "eve": erase.TombOfID("e")}
	t.As("ann", func() {
		t.Add("a", fixture.Created())
		t.Delete("a")
		anns, _ := skein.PartOf[erase.Tombstones](t.Store)
		t.NoErr("PutTombstones as ann", anns.PutTombstones(t.Context(), erase.Tombstone{User: "bob", Hash: want["ann"], At: fixture.Noon}))
	})
	t.NoErr("PutTombstones", all.PutTombstones(t.Context(), erase.Tombstone{User: "bob", Hash: want["bob"], At: fixture.Noon}, erase.Tombstone{User: "eve", Hash: want["eve"], At: fixture.Noon}))
	t.NoErr("PutTombstones of what is there", all.PutTombstones(t.Context(), erase.Tombstone{User: "bob", Hash: want["bob"], At: fixture.Noon + 1}))
	got := map[skein.User][sha256.Size]byte{}
	n := 0
	for s, err := range all.Tombstones(t.Context()) {
		t.NoErr("Tombstones", err)
		got[s.User] = s.Hash
		if n++; s.User == "bob" && s.At != fixture.Noon {
			t.Errorf("the tombstone of bob's is of %d, want the first, %d", s.At, fixture.Noon)
		}
	}
	harness.Equal(t, "Tombstones", got, want)
	if n != len(want) {
		t.Errorf("there are %d tombstones, want %d", n, len(want))
	}
	for who, hash := range want {
		t.As(who, func() {
			view, _ := skein.PartOf[erase.Tombstones](t.Store)
			for s, err := range view.Tombstones(t.Context()) {
				if err != nil || s.User != who || s.Hash != hash {
					t.Errorf("Tombstones of %s has one of %s, %v", who, s.User, err)
				}
			}
		})
	}
	t.As("bob", func() {
		t.Refused(skein.Batch{Session: "b", Events: []skein.Event{fixture.Created()}}, skein.ErrDeleted)
		t.Add("e", fixture.Created())
	})
}

func othersParent(t *harness.Test) {
	t.As("ann", func() { t.Add("a", fixture.Created(), fixture.User("x"), fixture.User("y")) })
	t.As("bob", func() {
		for _, p := range []skein.SessionID{"a", "never"} {
			t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork(p, 2)}}, skein.ErrNotFound)
			t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork(p, 99)}}, skein.ErrNotFound)
			t.Add("c-"+p, fixture.Child(p), fixture.User("x"))
		}
		harness.Equal(t, "children of a", t.IDs(skein.Filter{Parent: "a"}), []skein.SessionID{"c-a"})
	})
	t.As("ann", func() {
		t.Add("own", fixture.Child("a"), fixture.User("x"))
		harness.Equal(t, "children of a", t.IDs(skein.Filter{Parent: "a"}), []skein.SessionID{"own"})
	})
	harness.Equal(t, "children of a, seen by all", t.IDs(skein.Filter{Parent: "a"}), []skein.SessionID{"own"})
	harness.Equal(t, "children of a session that does not exist", t.IDs(skein.Filter{Parent: "never"}), []skein.SessionID{"c-never"})
	for id, want := range map[skein.SessionID]skein.SessionID{"c-a": "c-a", "own": "a"} {
		root, _, err := lookup.Family(t.Context(), t.Store, id, 0)
		if err != nil || root.ID != want {
			t.Errorf("the oldest ancestor of %s is %+v, %v, want %s", id, root, err, want)
		}
	}
}
