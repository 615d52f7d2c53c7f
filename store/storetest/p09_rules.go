package storetest

import (
	"time"

	"github.com/skein-dev/skein"
)

func tombstone(t *test) {
	_, im := t.full("a", "needle")
	evs := t.events("a")
	t.delete("a")
	for _, b := range []skein.Batch{
		{Session: "a", Events: []skein.Event{user("late")}},
		{Session: "a", Events: []skein.Event{titled("late")}},
		{Session: "a", After: 7, Events: []skein.Event{user("late")}},
		{Session: "a", Events: []skein.Event{created(), user("late")}},
		{Session: "a", After: skein.Fresh, Events: evs[:2]},
		{Session: "a", Events: evs[:2], Import: im},
		{Session: "a", Import: im},
	} {
		t.refused(b, skein.ErrDeleted)
	}
	t.wantGone(t.s, "a")
	if files := all(t, skein.SourcesOf(t.s).Files(t.Context(), "")); len(files) != 0 {
		t.Errorf("Files yields %+v, want none", files)
	}
	t.refused(skein.Batch{Session: "a", After: 5, Events: evs[:2], Import: im, Again: true}, skein.ErrConflict)
	t.refused(skein.Batch{Session: "a", Events: evs[:2], Import: im}, skein.ErrDeleted)
	t.append(skein.Batch{Session: "a", Events: evs[:2], Import: im, Again: true})
	t.wantEnd("a", 2)
	t.add("a", user("goes on"))
	t.wantFound("needle", at("a", 2))
	t.delete("a")
	t.refused(skein.Batch{Session: "a", Events: evs[:2], Import: im}, skein.ErrDeleted)
}

func originTombstone(t *test) {
	_, im := t.full("a", "needle")
	c := t.events("a")[0]
	t.delete("a")
	other := skein.Batch{Session: "a~1234", Events: []skein.Event{c}, Import: im}
	t.refused(other, skein.ErrDeleted)
	t.add("a~5678", c) // not an import: somebody chose this ID
	t.delete("a~5678")
	other.Again = true
	t.append(other)
	t.wantEnd("a~1234", 1)
	elsewhere := begin(skein.Created{Origin: &skein.Origin{Format: "codex", Path: "/x/b", ID: "o"}})
	t.append(skein.Batch{Session: "b", Events: []skein.Event{elsewhere}, Import: &skein.Import{File: skein.SourceFile{Format: "codex", Path: "/x/b"}}})
}

func copyTombstone(t *test) {
	t.add("a", created(), user("needle"))
	f := skein.SourceFile{Format: "codex", Path: "/x/copy", ID: "k", CopyOf: "a"}
	t.append(skein.Batch{Import: &skein.Import{File: f}})
	t.delete("a")
	c := begin(skein.Created{Origin: &skein.Origin{Format: f.Format, Path: f.Path, ID: f.ID}})
	f.CopyOf = ""
	for _, id := range []skein.SessionID{"k", "k~1234"} {
		t.refused(skein.Batch{Session: id, Events: []skein.Event{c}, Import: &skein.Import{File: f}}, skein.ErrDeleted)
	}
	t.append(skein.Batch{Session: "k", Events: []skein.Event{c}, Import: &skein.Import{File: f}, Again: true})
}

func children(t *test) {
	family := func(name string) (p, c1, c2, f skein.SessionID) {
		p, c1, c2, f = skein.SessionID(name), skein.SessionID(name+"1"), skein.SessionID(name+"2"), skein.SessionID(name+"3")
		t.add(p, created(), user("x"))
		t.add(c2, child(p), user("x"))
		t.add(c1, child(p), user("x"))
		t.add(f, fork(p, 2))
		return p, c1, c2, f
	}
	p, c1, c2, _ := family("keep")
	d := t.delete(p)
	equal(t, "children kept", d.Children, []skein.SessionID{c1, c2})
	t.wantEnd(c1, 2)

	p, c1, c2, f := family("bin")
	d, err := skein.LifecycleOf(t.s).Delete(t.Context(), p, skein.Deletion{Children: skein.BinChildren})
	t.noErr("Delete", err)
	equal(t, "children binned", d.Binned, []skein.SessionID{c1, c2})
	equal(t, "children kept", d.Children, []skein.SessionID(nil))
	t.add("some", created())
	t.add("some1", child("some"))
	t.bin("some1")
	d, err = skein.LifecycleOf(t.s).Delete(t.Context(), "some", skein.Deletion{Children: skein.BinChildren})
	t.noErr("Delete", err)
	if len(d.Binned)+len(d.Children) > 0 {
		t.Errorf("Delete = %+v, want nothing said of a child that was in the bin", d)
	}
	if t.session(c1).Binned == 0 || t.session(c2).Binned == 0 || t.session(f).Binned != 0 {
		t.Error("want the children in the bin, and not the fork")
	}

	p, _, _, _ = family("moved on")
	_, err = skein.LifecycleOf(t.s).Delete(t.Context(), p, skein.Deletion{After: t.session(p).Last - 1})
	t.wantErr("Delete of what has moved on", err, skein.ErrConflict)
	t.wantEnd(p, 2)
	_, err = skein.LifecycleOf(t.s).Delete(t.Context(), p, skein.Deletion{After: t.session(p).Last})
	t.noErr("Delete of what ends there", err)

	p, _, _, _ = family("refuse")
	_, err = skein.LifecycleOf(t.s).Delete(t.Context(), p, skein.Deletion{Children: skein.RefuseChildren})
	t.wantErr("Delete with RefuseChildren", err, skein.ErrRefused)
	t.wantEnd(p, 2)
	t.add("alone", created(), user("x"))
	t.add("alone-f", fork("alone", 2))
	_, err = skein.LifecycleOf(t.s).Delete(t.Context(), "alone", skein.Deletion{Children: skein.RefuseChildren})
	t.noErr("Delete of one that has only a fork", err)
	_, err = skein.LifecycleOf(t.s).Delete(t.Context(), p, skein.Deletion{Children: "eat"})
	t.wantErr("Delete with an unknown rule", err, skein.ErrInvalid)
}

func deleteLeased(t *test) {
	t.add("a", created(), user("x"))
	for _, r := range []skein.LeaseRequest{{}, {TTL: time.Hour}} {
		l := t.acquire("a", r)
		_, err := skein.LifecycleOf(t.s).Delete(t.Context(), "a", skein.Deletion{})
		t.wantErr("Delete while the lease is held", err, skein.ErrLocked)
		t.wantEnd("a", 2)
		t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), l))
	}
	t.delete("a")
}
