package interoptest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

var update = flag.Bool("update", false, "write the golden files")

// A Suite is a format with what it is tested on.
type Suite struct {
	Format interop.Format
	Dir    string // of the cases

	// Tables must be the same in a database that is written again.
	Tables []string

	// Unheard is an SQL statement that adds a row to each session of a database, of a
	// kind that the program is not known to write; ?1 is a number that no other row
	// has, ?2 a JSON object to put into the row. It may be "".
	Unheard string

	// Head reports whether a file, by its name and that of its unit, is the one
	// that names the session's parent and place: no session of a unit that is still
	// being written should begin without it. May be nil.
	Head func(unit, name string) bool

	// OneWay names the cases none of whose sessions can be written back to where
	// they came from: that is refused, and their files stay unchanged.
	OneWay []string

	// Lacks names what the program's files cannot hold, of the things that a session
	// is written with one at a time: everything else must be read again.
	Lacks []string

	// Recorded says that the model of a session in the program's files only records
	// which one answered, and not which one the program continues with.
	Recorded bool

	// Count returns the expected totals of an import of one file, computed without
	// the format: nil for no such test.
	Count func(t testing.TB, path string, data []byte) FileTotals
}

// The promises about one subject each.
type (
	writes   struct{ Suite } // of a format that can write
	cutting  struct{ Suite } // of a file of lines that ends too early
	unknowns struct{ Suite } // of records that the format does not know
)

// FileTotals are the totals of a file.
type FileTotals struct {
	Messages int   // of all its sessions, pieces of one message counted once
	Output   int64 // tokens, each request counted once
	Damaged  int   // records
}

// Run tests what every format must do, a subtest for each.
func Run(t *testing.T, s Suite) {
	for _, name := range s.cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("becomes the events of its golden file", func(t *testing.T) { s.golden(t, name) })
			t.Run("read twice adds nothing", func(t *testing.T) { s.twice(t, name) })
			t.Run("keeps no other session from being taken in", func(t *testing.T) { s.refused(t, name) })
			t.Run("is every user's to import", func(t *testing.T) { s.users(t, name) })
			t.Run("exported and imported where it is adds nothing", func(t *testing.T) { s.exportedIn(t, name) })
			t.Run("is the same wherever a first import came between", func(t *testing.T) { s.between(t, name) })
			if s.Format.Write != nil {
				t.Run("is written back where it came from", func(t *testing.T) { writes{s}.writtenBack(t, name, whole) })
				t.Run("is written back around damage", func(t *testing.T) { writes{s}.writtenBack(t, name, hurtOf) })
			}
			if s.Format.Load != nil {
				return // it holds events: there is nothing else to write again
			}
			t.Run("diverged from what was imported is shown whole", func(t *testing.T) { s.diverged(t, name) })
			t.Run("is imported whatever is beside it", func(t *testing.T) { s.amongOthers(t, name) })
			t.Run("with much that it does not know costs no more than its bytes", func(t *testing.T) { unknowns{s}.unknown(t, name) })
			if s.Format.Look != nil {
				t.Run("is written again as it was", func(t *testing.T) { s.writtenAgain(t, name) })
				t.Run("is followed as it is written", func(t *testing.T) { s.watched(t, name) })
				if len(s.headed(t, filepath.Join(s.Dir, name))) > 0 {
					t.Run("begins with what says what it is", func(t *testing.T) { s.headless(t, name) })
				}
				return
			}
			t.Run("is written again byte for byte", func(t *testing.T) { cutting{s}.export(t, name) })
			t.Run("cut anywhere gives a prefix, and the rest later", func(t *testing.T) { cutting{s}.cut(t, name) })
			if s.Count != nil {
				t.Run("adds up to what an independent count says", func(t *testing.T) { s.count(t, name) })
			}
		})
	}
	t.Run("whatever is in the files", func(t *testing.T) { Hostile(t, s) })
	t.Run("a document that is too long is named, with what to do", s.tooLong)
	if s.Format.Write != nil {
		w := writes{s}
		t.Run("there and back is the same session", w.thereAndBack)
		t.Run("is written around damage", w.aroundDamage)
		t.Run("there and back is the same, whatever the session", w.whatever)
		t.Run("what it cannot hold is told", w.reportsLosses)
		t.Run("whose fork it is is written, or told", w.hangs)
		t.Run("what a program wrapped is no title", w.untitled)
		t.Run("calls of what it can do are calls", w.called)
		t.Run("a call that has not run is told not to have taken effect", w.cutOff)
		t.Run("another program's model is not what it goes on with", w.unpinned)
		t.Run("written where it was written before", w.writtenAnew)
		t.Run("a child written before its parent", w.childFirst)
		t.Run("written again after a kill", w.cutShort)
	}
}

func (s Suite) cases(t testing.TB) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".golden") && e.Name() != "fuzz" {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		t.Fatalf("no cases in %s", s.Dir)
	}
	return names
}

func (s Suite) golden(t *testing.T, name string) {
	root := lay(t, filepath.Join(s.Dir, name))
	store := memory.New()
	defer store.Close()
	if rep := s.bring(t, store, root); rep.Amended != 0 {
		t.Errorf("first Import(%s): %d events whose record changed since it was read, want 0", name, rep.Amended)
	}
	got := dump(t, store, root)
	file := filepath.Join(s.Dir, name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("import of %s (-want +got):\n%s", name, diff)
	}
}

// bring imports what is at path.
func (s Suite) bring(t testing.TB, store *memory.Store, path string) interop.Report {
	t.Helper()
	rep, err := importer.Import(context.Background(), store, []interop.Format{s.Format}, []string{path}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", path, err)
	}
	return rep
}

func (s Suite) twice(t *testing.T, name string) {
	root := lay(t, filepath.Join(s.Dir, name))
	store := memory.New()
	defer store.Close()
	s.bring(t, store, root)
	first := dump(t, store, root)
	touch(t, root, 1) // otherwise the files would not be read at all
	rep := s.bring(t, store, root)
	if s.Format.Look != nil {
		rep.Damaged = 0 // a file's time is part of its record, which is read again
	}
	if rep.Events != 0 || rep.Sessions != 0 || rep.Damaged != 0 || rep.Unchanged != 0 {
		t.Errorf("second Import(%s) = %+v, want nothing new", name, rep)
	}
	if rep.Unmatched != 0 {
		t.Errorf("Import(%s) says of %d files that no format recognizes them, want 0: they belong to its sessions", name, rep.Unmatched)
	}
	if diff := cmp.Diff(first, dump(t, store, root)); diff != "" {
		t.Errorf("second Import(%s) changed the store (-first +second):\n%s", name, diff)
	}
}

func (s Suite) count(t *testing.T, name string) {
	for _, f := range files(t, lay(t, filepath.Join(s.Dir, name))) {
		data := read(t, f)
		store := memory.New()
		rep := s.bring(t, store, f)
		if rep.Files == 0 {
			continue
		}
		got := sum(t, store)
		got.Damaged = rep.Damaged
		if want := s.Count(t, f, data); got != want {
			t.Errorf("Import(%s) adds up to %+v, want %+v", filepath.Base(f), got, want)
		}
		store.Close()
	}
}
