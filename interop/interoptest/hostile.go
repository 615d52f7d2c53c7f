package interoptest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// Hostile checks what must be true whatever is in a format's files: if a case is changed
// in one of many bad ways, an import ends soon, without an error but with a report,
// changes none of the files and adds none beside them; a second import adds nothing;
// and when the files are whole again, everything in them is imported or, for a format
// with a Load, which takes events as they are, the report names what has diverged. It
// is part of [Run].
func Hostile(t *testing.T, s Suite) {
	cases := s.cases(t)
	turns := (len(cases) + 1) / 2 // each evil is done to two cases
	for c, name := range cases {
		for i, e := range slices.Concat(textEvils(), databaseEvils()) {
			if testing.Short() && i%turns != c%turns {
				continue
			}
			t.Run(name+"/"+e.name, func(t *testing.T) {
				t.Parallel()
				s.bears(t, name, e)
			})
		}
	}
}

// An evil is something bad that is done to files.
type evil struct {
	name string

	// do returns what replaces data in a file, and false to leave the file
	// unchanged.
	do func(t *testing.T, data []byte) ([]byte, bool)
}

// deadline is how long an import of one case may take.
const deadline = 15 * time.Minute

func (s Suite) bears(t *testing.T, name string, e evil) {
	root := lay(t, filepath.Join(s.Dir, name))
	was, changed := map[string][]byte{}, 0
	for _, f := range files(t, root) {
		was[f] = read(t, f)
		if bad, ok := e.do(t, was[f]); ok {
			write(t, f, bad)
			changed++
		}
	}
	if changed == 0 {
		return
	}
	touch(t, root, 1)
	before := snapshot(t, root)
	store := memory.New()
	defer store.Close()
	s.soon(t, store, root)
	if diff := cmp.Diff(before, snapshot(t, root)); diff != "" {
		t.Errorf("Import changed what it read (-was +is):\n%s", diff)
	}
	first := events(t, store)
	touch(t, root, 2)
	if rep := s.soon(t, store, root); rep.Events != 0 || rep.Sessions != 0 {
		t.Errorf("second Import = %+v, want nothing new; (-first +second):\n%s", rep, cmp.Diff(first, events(t, store)))
	}
	for f, data := range was {
		write(t, f, data)
	}
	touch(t, root, 3)
	rep := s.soon(t, store, root)
	want := memory.New()
	defer want.Close()
	s.bring(t, want, root)
	if s.Format.Load != nil && rep.Skipped > 0 {
		return
	}
	if lost := missing(conversations(t, want), conversations(t, store)); len(lost) > 0 {
		t.Errorf("when the files are whole again, these are not shown: %q", lost)
	}
	// How often what was taken back is stored depends on where forks begin.
	if lost := missing(once(said(t, want)), once(said(t, store))); len(lost) > 0 {
		t.Errorf("when the files are whole again, these are not stored: %q", lost)
	}
}

// soon imports what is at path.
func (s Suite) soon(t *testing.T, store *memory.Store, path string) interop.Report {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), deadline)
	defer stop()
	rep, err := importer.Import(ctx, store, []interop.Format{s.Format}, []string{path}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", path, err)
	}
	return rep
}

// snapshot returns everything in and beside a folder: names, times, sums.
func snapshot(t *testing.T, root string) (all []string) {
	t.Helper()
	for _, f := range files(t, filepath.Dir(root)) {
		info, err := os.Lstat(f)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %v %v", f, info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			line += fmt.Sprintf(" %x", sha256.Sum256(read(t, f)))
		}
		all = append(all, line)
	}
	return all
}

// missing returns the elements of want that are not in got, as often as they are in want.
func missing(want, got []string) (lost []string) {
	n := map[string]int{}
	for _, w := range got {
		n[w]++
	}
	for _, w := range want {
		if n[w]--; n[w] < 0 {
			lost = append(lost, w)
		}
	}
	return lost
}
