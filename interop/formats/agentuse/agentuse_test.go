package agentuse

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata", Lacks: []string{"which model answered", "a fork's parent", "a repository", "a branch", "a commit", "a change of branch", "what a cache keeps for an hour", "a service tier", "a title", "a description", "a profile", "a key", "a pin", "tags", "a status", "a request that failed", "that it was resumed", "that it ended", "a note", "steering", "instructions", "a compaction"}, Recorded: true, Head: func(_, name string) bool {
		return name == "session.json"
	}})
}

func TestSamples(t *testing.T) {
	dir := os.Getenv("SKEIN_SAMPLES")
	if dir == "" {
		t.Skip("SKEIN_SAMPLES is not set: no real sessions to read")
	}
	root, err := filepath.EvalSymlinks(filepath.Join(dir, "agentuse"))
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	defer s.Close()
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{root}, interop.Options{})
	if err != nil || rep.Files != 4 || rep.Sessions != 4 || rep.Damaged != 0 || rep.Skipped != 0 {
		t.Fatalf("Import = %+v, %v, want 4 sessions", rep, err)
	}
	child, err := s.Session(t.Context(), "01M7Y13J64K8KV1E6CMQ1EJRZF")
	if err != nil || child.Parent == nil || child.Parent.Session != "01M7Y13J4564C0K5X5503RJA1K" || child.Parent.Why != skein.Child {
		t.Errorf("the sub-agent's session is %+v, %v, want a child", child, err)
	}
	home := t.TempDir()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true, NoChildren: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writeback.Export(t.Context(), s, Format(), sess.ID, home, writeback.Exports{}); err != nil {
			t.Errorf("Export(%s) = %v", sess.ID, err)
		}
	}
	interoptest.SameFiles(t, filepath.Join(root, "v0.15.0", "agentuse"), home)
	t.Logf("%d folders, %d bytes of records", rep.Files, rep.Bytes)
}
