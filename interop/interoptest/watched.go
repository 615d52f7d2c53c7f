package interoptest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/watch"
	"github.com/skein-dev/skein/store/memory"
)

// patience is how long a watch may take on a machine with much else to do.
const patience = 5 * time.Minute

// watched checks, for a format of folders or databases: a watch that sees a case
// appear, file by file, ends with the same messages as an import of the whole case.
func (s Suite) watched(t *testing.T, name string) {
	from := lay(t, filepath.Join(s.Dir, name))
	want := memory.New()
	defer want.Close()
	s.bring(t, want, from)
	to, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	defer store.Close()
	reports, done := make(chan interop.Report, 1000), make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		done <- watch.Watch(ctx, store, []interop.Format{s.Format}, []string{to}, interop.Options{}, func(r interop.Report) { reports <- r })
	}()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Watch = %v, want nil after its context ended", err)
		}
	}()
	<-reports
	aside, long := filepath.Join(t.TempDir(), "aside"), time.Now().Add(-interop.TornFor)
	heads := s.headed(t, from)
	for _, f := range files(t, from) {
		write(t, aside, read(t, f))
		if s.Head != nil && !heads[s.Format.Unit(filepath.ToSlash(f))] { // the head will not come, and is not waited for
			if err := os.Chtimes(aside, long, long); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(aside, placeFor(t, to, from, f)); err != nil {
			t.Fatal(err)
		}
	}
	late := time.After(patience)
	for {
		diff := cmp.Diff(said(t, want), said(t, store))
		if diff == "" {
			return
		}
		select {
		case <-reports:
		case <-late:
			t.Fatalf("watched for %v (-import at once +watch):\n%s", patience, diff)
		}
	}
}

// between also imports the folders after each of their files appears: what is stored in
// the end must say the same as when they were imported at once.
func (s Suite) between(t *testing.T, name string) {
	from := lay(t, filepath.Join(s.Dir, name))
	want := memory.New()
	defer want.Close()
	s.bring(t, want, from)
	all := files(t, from)
	for stop := range all[:len(all)-1] {
		to, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		store := memory.New()
		for i, f := range all {
			write(t, placeFor(t, to, from, f), read(t, f))
			if i == stop {
				s.bring(t, store, to)
			}
		}
		touch(t, to, 0) // nothing is waited for any more
		s.bring(t, store, to)
		if diff := cmp.Diff(said(t, want), said(t, store)); diff != "" {
			t.Errorf("imported also when %s was there (-import at once +both):\n%s", all[stop], diff)
		}
		store.Close()
	}
}

// users checks: whoever has imported the same files before, each user of a store gets
// everything in them, once, and related in the same way as the first user's sessions,
// also if their files grow between imports.
func (s Suite) users(t *testing.T, name string) {
	root := lay(t, filepath.Join(s.Dir, name))
	all := memory.New()
	defer all.Close()
	var first []string
	for i, who := range []skein.User{"ann", "bob", "eve"} {
		view, ok := all.As(who).(*memory.Store)
		if !ok {
			t.Fatalf("As gives no %T", all)
		}
		s.growing(t, root, view)
		var reps [2]interop.Report
		for n := range reps {
			var err error
			if reps[n], err = importer.Import(t.Context(), view, []interop.Format{s.Format}, []string{root}, interop.Options{}); err != nil {
				t.Fatalf("Import of %s = %v", who, err)
			}
		}
		if reps[1].Events > 0 || reps[1].Failed > reps[0].Failed {
			t.Errorf("Import of %s once more = %+v, want nothing new", who, reps[1])
		}
		words := said(t, view)
		for id := range origins(t, view) {
			x, err := view.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			words = append(words, "title: "+x.Title)
			if x.Parent == nil {
				continue
			}
			if up, err := view.Session(t.Context(), x.Parent.Session); err == nil {
				words = append(words, "child of: "+up.Title)
			}
		}
		words = once(words)
		if i == 0 {
			first = words
		} else if diff := cmp.Diff(first, words); diff != "" {
			t.Errorf("%s, after another user, has other than that one (-first +got):\n%s", who, diff)
		}
	}
}

// growSteps is in how many steps the files grow.
const growSteps = 12

// growing imports the files as they grow by whole lines, except the last line. Files
// that are not lines stay unchanged.
func (s Suite) growing(t *testing.T, root string, view *memory.Store) {
	t.Helper()
	whole := map[string][]byte{}
	for _, f := range files(t, root) {
		if _, packed := disk.PlainName(f); s.Format.Look == nil && s.Format.Load == nil && !packed {
			whole[f] = read(t, f)
		}
	}
	for step := range growSteps {
		for f, data := range whole {
			write(t, f, data[:bytes.LastIndexByte(data[:len(data)*(step+1)/(growSteps+1)], '\n')+1])
		}
		if rep := s.bring(t, view, root); rep.Failed > 0 {
			t.Errorf("step %d of files that grow: Import = %+v, want none that fails", step, rep)
		}
	}
	for f, data := range whole {
		write(t, f, data)
	}
	touch(t, root, 0)
}
