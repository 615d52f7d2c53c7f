package removal

import (
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func tombstone(t *harness.Test) {
	_, im := t.Full("a", "needle")
	evs := t.Events("a")
	t.Delete("a")
	for _, b := range []skein.Batch{
		{Session: "a", Events: []skein.Event{fixture.User("late")}},
		{Session: "a", Events: []skein.Event{fixture.Titled("late")}},
		{Session: "a", After: 7, Events: []skein.Event{fixture.User("late")}},
		{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User("late")}},
		{Session: "a", After: skein.Fresh, Events: evs[:2]},
		{Session: "a", Events: evs[:2], Import: im},
		{Session: "a", Import: im},
	} {
		t.Refused(b, skein.ErrDeleted)
	}
	t.WantGone(t.Store, "a")
	if files := harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")); len(files) != 0 {
		t.Errorf("Files yields %+v, want none", files)
	}
	t.Refused(skein.Batch{Session: "a", After: 5, Events: evs[:2], Import: im, Again: true}, skein.ErrConflict)
	t.Refused(skein.Batch{Session: "a", Events: evs[:2], Import: im}, skein.ErrDeleted)
	t.Append(skein.Batch{Session: "a", Events: evs[:2], Import: im, Again: true})
	t.WantEnd("a", 2)
	t.Add("a", fixture.User("goes on"))
	t.WantFound("needle", harness.At("a", 2))
	t.Delete("a")
	t.Refused(skein.Batch{Session: "a", Events: evs[:2], Import: im}, skein.ErrDeleted)
}

func originTombstone(t *harness.Test) {
	_, im := t.Full("a", "needle")
	c := t.Events("a")[0]
	t.Delete("a")
	other := skein.Batch{Session: "a~1234", Events: []skein.Event{c}, Import: im}
	t.Refused(other, skein.ErrDeleted)
	t.Add("a~5678", c) // not an import: somebody chose this ID
	t.Delete("a~5678")
	other.Again = true
	t.Append(other)
	t.WantEnd("a~1234", 1)
	elsewhere := fixture.Begin(skein.Created{Origin: &skein.Origin{Format: "codex", Path: "/x/b", ID: "o"}})
	t.Append(skein.Batch{Session: "b", Events: []skein.Event{elsewhere}, Import: &skein.Import{File: skein.SourceFile{Format: "codex", Path: "/x/b"}}})
}

func copyTombstone(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("needle"))
	f := skein.SourceFile{Format: "codex", Path: "/x/copy", ID: "k", CopyOf: "a"}
	t.Append(skein.Batch{Import: &skein.Import{File: f}})
	t.Delete("a")
	c := fixture.Begin(skein.Created{Origin: &skein.Origin{Format: f.Format, Path: f.Path, ID: f.ID}})
	f.CopyOf = ""
	for _, id := range []skein.SessionID{"k", "k~1234"} {
		t.Refused(skein.Batch{Session: id, Events: []skein.Event{c}, Import: &skein.Import{File: f}}, skein.ErrDeleted)
	}
	t.Append(skein.Batch{Session: "k", Events: []skein.Event{c}, Import: &skein.Import{File: f}, Again: true})
}

func children(t *harness.Test) {
	family := func(name string) (p, c1, c2, f skein.SessionID) {
		p, c1, c2, f = skein.SessionID(name), skein.SessionID(name+"1"), skein.SessionID(name+"2"), skein.SessionID(name+"3")
		t.Add(p, fixture.Created(), fixture.User("x"))
		t.Add(c2, fixture.Child(p), fixture.User("x"))
		t.Add(c1, fixture.Child(p), fixture.User("x"))
		t.Add(f, fixture.Fork(p, 2))
		return p, c1, c2, f
	}
	p, c1, c2, _ := family("keep")
	d := t.Delete(p)
	harness.Equal(t, "children kept", d.Children, []skein.SessionID{c1, c2})
	t.WantEnd(c1, 2)

	p, c1, c2, f := family("bin")
	d, err := skein.LifecycleOf(t.Store).Delete(t.Context(), p, skein.Deletion{Children: skein.BinChildren})
	t.NoErr("Delete", err)
	harness.Equal(t, "children binned", d.Binned, []skein.SessionID{c1, c2})
	harness.Equal(t, "children kept", d.Children, []skein.SessionID(nil))
	t.Add("some", fixture.Created())
	t.Add("some1", fixture.Child("some"))
	t.Bin("some1")
	d, err = skein.LifecycleOf(t.Store).Delete(t.Context(), "some", skein.Deletion{Children: skein.BinChildren})
	t.NoErr("Delete", err)
	if len(d.Binned)+len(d.Children) > 0 {
		t.Errorf("Delete = %+v, want nothing said of a child that was in the bin", d)
	}
	if t.Session(c1).Binned == 0 || t.Session(c2).Binned == 0 || t.Session(f).Binned != 0 {
		t.Error("want the children in the bin, and not the fork")
	}

	p, _, _, _ = family("moved on")
	_, err = skein.LifecycleOf(t.Store).Delete(t.Context(), p, skein.Deletion{After: t.Session(p).Last - 1})
	t.WantErr("Delete of what has moved on", err, skein.ErrConflict)
	t.WantEnd(p, 2)
	_, err = skein.LifecycleOf(t.Store).Delete(t.Context(), p, skein.Deletion{After: t.Session(p).Last})
	t.NoErr("Delete of what ends there", err)

	p, _, _, _ = family("refuse")
	_, err = skein.LifecycleOf(t.Store).Delete(t.Context(), p, skein.Deletion{Children: skein.RefuseChildren})
	t.WantErr("Delete with RefuseChildren", err, skein.ErrRefused)
	t.WantEnd(p, 2)
	t.Add("alone", fixture.Created(), fixture.User("x"))
	t.Add("alone-f", fixture.Fork("alone", 2))
	_, err = skein.LifecycleOf(t.Store).Delete(t.Context(), "alone", skein.Deletion{Children: skein.RefuseChildren})
	t.NoErr("Delete of one that has only a fork", err)
	_, err = skein.LifecycleOf(t.Store).Delete(t.Context(), p, skein.Deletion{Children: "eat"})
	t.WantErr("Delete with an unknown rule", err, skein.ErrInvalid)
}

func deleteLeased(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	for _, r := range []skein.LeaseRequest{{}, {TTL: time.Hour}} {
		l := t.Acquire("a", r)
		_, err := skein.LifecycleOf(t.Store).Delete(t.Context(), "a", skein.Deletion{})
		t.WantErr("Delete while the lease is held", err, skein.ErrLocked)
		t.WantEnd("a", 2)
		t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), l))
	}
	t.Delete("a")
}
