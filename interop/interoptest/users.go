package interoptest

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/memory"
)

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
			if reps[n], err = interop.Import(t.Context(), view, []interop.Format{s.Format}, []string{root}, interop.Options{}); err != nil {
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
		if _, packed := interop.PlainName(f); s.Format.Look == nil && s.Format.Load == nil && !packed {
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
