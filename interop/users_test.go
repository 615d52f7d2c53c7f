package interop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
)

// What others have imported does not keep anybody from importing the same files.
func TestEveryUserMayImportTheSameFiles(t *testing.T) {
	p := newPlace(t)
	whole := p.store
	p.raw("a.toy", line("a1")+`{"id":"a2","say":"to the child","child":"kid"}`+"\n")
	p.write("b.toy", "b1")
	var first []skein.SessionID
	for i, who := range []skein.User{"ann", "bob", "eve", "dan"} {
		p.store = whole.As(who)
		rep, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("")}, interop.Options{})
		if err != nil || rep.Failed != 0 || rep.Sessions != 3 {
			t.Fatalf("Import of %s = %+v, %v, want all of it", who, rep, err)
		}
		if rep, err = importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("")}, interop.Options{}); err != nil || rep.Events != 0 {
			t.Errorf("Import of %s once more = %+v, %v, want nothing new", who, rep, err)
		}
		var ids []skein.SessionID
		for s, err := range p.store.Sessions(t.Context(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			id, _, _ := strings.Cut(string(s.ID), "~")
			ids = append(ids, skein.SessionID(id))
			if s.Parent == nil {
				continue
			}
			if up, err := p.store.Session(t.Context(), s.Parent.Session); err != nil || up.User != who {
				t.Errorf("the parent of %s's child is %s, %v, want one of the same user", who, s.Parent.Session, err)
			}
		}
		slices.Sort(ids)
		if i == 0 {
			first = ids
		}
		if !slices.Equal(ids, first) || len(ids) != 3 {
			t.Errorf("%s has %v, want what ann has, %v", who, ids, first)
		}
	}
	for s, err := range whole.Sessions(t.Context(), skein.Filter{User: "ann"}) {
		if err != nil || strings.Contains(string(s.ID), "~") {
			t.Errorf("ann, who came first, has %s, %v, want it as its program calls it", s.ID, err)
		}
		if err := skein.LifecycleOf(whole).Bin(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := skein.LifecycleOf(whole).Delete(t.Context(), s.ID, skein.Deletion{}); err != nil {
			t.Fatal(err)
		}
	}
	p.store = whole.As("dana")
	if rep, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("")}, interop.Options{}); err != nil || rep.Removed != 0 || rep.Sessions != 3 {
		t.Errorf("Import of dana, who never had them, = %+v, %v, want all of it", rep, err)
	}
	p.store = whole.As("ann")
	if rep, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("")}, interop.Options{}); err != nil || rep.Sessions != 0 || rep.Removed == 0 {
		t.Errorf("Import of ann, who destroyed them, = %+v, %v, want nothing", rep, err)
	}
}

// A child session whose ID another user has grows with its file.
func TestEveryUsersFileOfSeveralSessionsGrows(t *testing.T) {
	p := newPlace(t)
	whole := p.store
	say := func(id string) string { return `{"id":"` + id + `","say":"to the child","child":"kid"}` + "\n" }
	p.raw("a.toy", line("a1")+say("a2"))
	for _, who := range []skein.User{"ann", "bob", "eve"} {
		if rep, err := importer.Import(t.Context(), whole.As(who), []interop.Format{toy()}, []string{p.path("")}, interop.Options{}); err != nil || rep.Sessions != 2 {
			t.Fatalf("Import of %s = %+v, %v, want both sessions", who, rep, err)
		}
	}
	p.raw("a.toy", line("a1")+say("a2")+say("a3"))
	for _, who := range []skein.User{"eve", "bob", "ann"} {
		if rep, err := importer.Import(t.Context(), whole.As(who), []interop.Format{toy()}, []string{p.path("")}, interop.Options{}); err != nil || rep.Failed != 0 || rep.Sessions != 0 || rep.Events != 1 {
			t.Errorf("Import of %s, when the file has grown, = %+v, %v, want what is new", who, rep, err)
		}
	}
}
