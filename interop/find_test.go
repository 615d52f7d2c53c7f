package interop_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/importer"
)

func TestFindSaysWhatThereIsAndTakesInNothing(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "a1", "c/kid")
	p.raw("x/b.toy.gz", string(pack(t, ".gz", []byte(line("b1")))))
	p.raw("x/note.txt", "none")
	p.raw("x/deep/c.box/talk.jsonl", line("c1"))
	p.raw("x/deep/c.box/note.txt", "C")
	p.toys(`CREATE TABLE more (x)`)
	p.write("y/d.toy", "d1")
	roots := []string{p.path("x"), p.dir}
	find := func() ([]discover.Discovery, interop.Report) {
		t.Helper()
		found, rep, err := discover.Find(t.Context(), p.store, everyToy, roots)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			found[i].Bytes = min(found[i].Bytes, 1)
		}
		return found, rep
	}
	was, rep := find()
	want := []discover.Discovery{
		{Format: "toy", Path: roots[0], Files: 2, Bytes: 1, New: 2, Sessions: 2},
		{Format: "box", Path: roots[0], Files: 1, Bytes: 1, New: 1, Sessions: 1},
		{Format: "toy", Path: roots[1], Files: 1, Bytes: 1, New: 1, Sessions: 1},
		{Format: "base", Path: roots[1], Files: 1, Bytes: 1, New: 1, Sessions: 2},
	}
	if diff := cmp.Diff(want, was); diff != "" || rep.Unmatched != 1 || rep.Files != 5 || len(p.sessions()) != 0 {
		t.Errorf("Find before an import (-want +got) with %d unmatched, %d files and %d sessions stored:\n%s", rep.Unmatched, rep.Files, len(p.sessions()), diff)
	}
	p.again()
	p.write("x/a.toy", "a1", "c/kid", "a2")
	is, _ := find()
	for i := range want {
		want[i].New, want[i].Stored = 0, want[i].Sessions
	}
	want[0].Grown = 1
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("Find after an import and a change (-want +got):\n%s", diff)
	}
}

// A session that an import would drop is not in the list.
func TestFindCountsNoSessionThatAnImportDrops(t *testing.T) {
	p := newPlace(t)
	p.write("empty.toy")
	p.raw("void.toy", `{"id":"v","void":true}`+"\n")
	p.raw("title.toy", `{"id":"f","say":"about nothing","float":true}`+"\n")
	p.write("gone.toy", "g1")
	p.write("here.toy", "h1")
	if _, err := importer.Import(t.Context(), p.store, everyToy, []string{p.path("gone.toy")}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "gone", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	p.toys()
	for range 2 {
		found, rep, err := discover.Find(t.Context(), p.store, everyToy, []string{p.dir})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range found {
			n += f.Sessions
		}
		if rep.Removed != 1 {
			t.Errorf("Find says that %d files are of destroyed sessions, want 1", rep.Removed)
		}
		p.again()
		if is := len(p.sessions()); n != is {
			t.Errorf("Find counts %d sessions, and an import makes it %d", n, is)
		}
	}
}

func TestPlacesSayWhichVariableNamesThem(t *testing.T) {
	env := map[string]string{"TOY_HOME": filepath.FromSlash("/opt/toys"), "DATA": filepath.FromSlash("/opt")}
	f := interop.Format{Places: func(h interop.Home) []string {
		h.Env("OTHER")
		return []string{filepath.Join(h.Env("TOY_HOME"), "s"), filepath.Join(h.Env("DATA"), "toy"), filepath.Join(h.Dir, ".toy")}
	}}
	places, asked := interop.PlacesOf(f, interop.Home{Dir: filepath.FromSlash("/home/ann"), Env: func(k string) string { return env[k] }})
	want := []interop.Place{{Path: filepath.FromSlash("/opt/toys/s"), Variable: "TOY_HOME"}, {Path: filepath.FromSlash("/opt/toy"), Variable: "DATA"}, {Path: filepath.FromSlash("/home/ann/.toy")}}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("PlacesOf (-want +got):\n%s", diff)
	}
	if want := []string{"OTHER", "TOY_HOME", "DATA"}; !slices.Equal(asked, want) {
		t.Errorf("PlacesOf asks for %q, want %q", asked, want)
	}
}
