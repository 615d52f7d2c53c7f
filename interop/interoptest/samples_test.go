package interoptest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/agentuse"
	"github.com/skein-dev/skein/interop/formats/agsh"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/codex"
	"github.com/skein-dev/skein/interop/formats/ethos"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/formats/skillet"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// seeds returns the formats of the programs that there are samples of.
func seeds() []interop.Format {
	return []interop.Format{agsh.Format(), amplifier.Format(), ethos.Format(), agentuse.Format(), skillet.Format()}
}

// writers returns the formats that can be written.
func writers() []interop.Format {
	return append(seeds(), codex.Format(), claudecode.Format(), pi.Format())
}

// samples returns the folder of a program's samples.
func samples(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("SKEIN_SAMPLES")
	if root == "" {
		t.Skip("SKEIN_SAMPLES is not set: no real sessions to read")
	}
	root, err := filepath.EvalSymlinks(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func TestSamplesComeBackByWayOfEveryOtherFormat(t *testing.T) {
	for _, own := range seeds() {
		for _, by := range writers() {
			if own.Name == by.Name || by.Write == nil {
				continue
			}
			t.Run(own.Name+" by way of "+by.Name, func(t *testing.T) { comesBack(t, own, by) })
		}
	}
}

func comesBack(t *testing.T, own, by interop.Format) {
	from := memory.New()
	defer from.Close()
	if _, err := importer.Import(t.Context(), from, []interop.Format{own}, []string{samples(t, own.Name)}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	want := ids(t, from, false)
	empty := map[skein.SessionID]bool{} // and not mistaken for that
	for _, id := range ids(t, from, true) {
		_, err := writeback.Export(t.Context(), from, by, id, home, writeback.Exports{})
		if s, _ := from.Session(t.Context(), id); s.Messages == 0 && errors.Is(err, skein.ErrInvalid) {
			t.Logf("%s has no messages, and %s cannot hold that", id, by.Name)
			want = slices.DeleteFunc(want, func(w skein.SessionID) bool { return w == id })
			empty[id] = true
		} else if err != nil {
			t.Errorf("Export(%s) = %v", id, err)
		}
	}
	to := onDisk(t)
	rep, err := importer.Import(t.Context(), to, []interop.Format{by}, []string{home}, interop.Options{})
	if err != nil || rep.Skipped != 0 || rep.Damaged != 0 {
		t.Fatalf("Import of what was written = %+v, %v, want no damage", rep, err)
	}
	if is := ids(t, to, false); !slices.Equal(want, is) {
		t.Errorf("sessions are %v, want %v", is, want)
	}
	files, size := 0, 0
	for f, err := range from.Files(t.Context(), own.Name) {
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Session == "" || empty[f.Session]:
			continue // the first is what a database has besides sessions
		}
		var was, is bytes.Buffer
		if err := writeback.WriteSource(t.Context(), from, own.Name, f.Path, &was); err != nil {
			t.Fatal(err)
		}
		if err := writeback.WriteSource(t.Context(), to, own.Name, f.Path, &is); err != nil || !bytes.Equal(was.Bytes(), is.Bytes()) {
			t.Errorf("%s has come back with %d bytes that differ from the %d that it was, %v", f.Path, is.Len(), was.Len(), err)
		}
		files, size = files+1, size+was.Len()
	}
	for _, id := range ids(t, to, true) {
		done, err := writeback.Export(t.Context(), to, own, id, t.TempDir(), writeback.Exports{})
		if err != nil || !done[0].Exact {
			t.Errorf("Export(%s) = %+v, %v, want it exact", id, done, err)
		}
	}
	t.Logf("%d sources, %d bytes", files, size)
}

// ids returns the sessions of a store; with roots, only those that no other one started.
func ids(t *testing.T, s skein.Store, roots bool) (all []skein.SessionID) {
	t.Helper()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true, NoChildren: roots}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sess.ID)
	}
	slices.Sort(all)
	return all
}
