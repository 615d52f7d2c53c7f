package amplifier_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// samples copies the sample tree to where it can be written to.
func samples(t *testing.T) string {
	t.Helper()
	from := os.Getenv("SKEIN_SAMPLES")
	if from == "" {
		t.Skip("SKEIN_SAMPLES is not set: no files that Amplifier wrote to read")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, ".amplifier")
	if err := os.CopyFS(to, os.DirFS(filepath.Join(from, "amplifier", "dot-amplifier"))); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return to
}

func bring(t testing.TB, s *memory.Store, path string) interop.Report {
	t.Helper()
	rep, err := importer.Import(context.Background(), s, []interop.Format{amplifier.Format()}, []string{path}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", path, err)
	}
	return rep
}

func session(t testing.TB, s *memory.Store, id string) skein.Session {
	t.Helper()
	sess, err := s.Session(t.Context(), skein.SessionID(id))
	if err != nil {
		t.Fatalf("Session(%s) = %v", id, err)
	}
	return sess
}

const sampleParent = "7c1d3f0a-2b1e-4b61-9d57-2f3a1c0e8a11"

func TestSamplesAreReadAndWrittenAgain(t *testing.T) {
	root := samples(t)
	s := memory.New()
	defer s.Close()
	rep := bring(t, s, root)
	if rep.Files != 4 || rep.Sessions != 4 || rep.Damaged != 0 || rep.Skipped != 0 || rep.Unmatched != 0 {
		t.Errorf("Import = %+v, want 4 sessions of 4 folders", rep)
	}
	if rep := bring(t, s, root); rep.Unchanged != 4 || rep.Events != 0 {
		t.Errorf("Import again = %+v, want 4 folders as they were", rep)
	}
	parent := session(t, s, sampleParent)
	if parent.Title != "Retry code tests" || parent.Usage.Reported != 3_400_000 || parent.Cwd != "/home/user/projects/my-app" {
		t.Errorf("the parent is %+v, want its name, cost and folder", parent)
	}
	for id, why := range map[string]skein.Why{
		"d1718cd7-8a0b-4be5-9f3e-b0ed447ed025": skein.Fork, "my-fix": skein.Fork, "0000000000000000-9f2b7a1c3d4e5f60_web-researcher": skein.Child,
	} {
		if p := session(t, s, id).Parent; p == nil || p.Session != sampleParent || p.Why != why {
			t.Errorf("%s hangs on %+v, want a %s of %s", id, p, why, sampleParent)
		}
	}
	home := filepath.Join(t.TempDir(), "home")
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true, NoChildren: true}) {
		if err != nil {
			t.Fatal(err)
		}
		done, err := writeback.Export(t.Context(), s, amplifier.Format(), sess.ID, home, writeback.Exports{})
		if err != nil || !done[0].Exact {
			t.Errorf("Export(%s) = %+v, %v, want it exact", sess.ID, done, err)
		}
	}
	interoptest.SameFiles(t, root, home)
	t.Logf("%d folders, %d bytes of records", rep.Files, rep.Bytes)
}

func TestTurnsAreCountedAsAmplifierCountsAndAsAPersonWould(t *testing.T) {
	s := memory.New()
	defer s.Close()
	bring(t, s, samples(t))
	lines, typed := 0, 0
	for e, err := range s.Events(t.Context(), sampleParent, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != skein.KindSaid {
			continue
		}
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			t.Fatal(err)
		}
		if m.Role == skein.RoleUser {
			lines++
		}
		if m.Typed() {
			typed++
		}
	}
	if turns := session(t, s, sampleParent).Turns; lines != 4 || typed != 3 || turns != 3 {
		t.Errorf("the sample has %d user lines, %d typed ones and %d turns, want 4, 3 and 3", lines, typed, turns)
	}
}
