package agsh

import (
	"bytes"
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
	interoptest.Run(t, interoptest.Suite{
		Format: Format(), Dir: "testdata", Lacks: []string{"which model answered", "a system prompt", "a message that failed", "a fork's parent", "a child's parent", "a repository", "a branch", "a commit", "a change of branch", "what is known of a message's request later", "what another request used", "a recorded cost", "what a message used", "what a cache keeps for an hour", "a service tier", "a title", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note", "reasoning", "steering", "instructions", "what it used", "a compaction", "a change of folder"}, Recorded: true, Tables: []string{"sessions", "messages"},
		Unheard: `INSERT INTO messages (session_id, role, content, created_at) SELECT id, 'unheard-of', ?1 || ?2, '2027-01-01T00:00:00+00:00' FROM sessions`,
	})
}

func TestSamples(t *testing.T) {
	dir := os.Getenv("SKEIN_SAMPLES")
	if dir == "" {
		t.Skip("SKEIN_SAMPLES is not set: no real databases to read")
	}
	s := memory.New()
	defer s.Close()
	root, err := filepath.EvalSymlinks(filepath.Join(dir, "agsh", "v0.1.2"))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{root}, interop.Options{})
	if err != nil || rep.Sessions != 3 || rep.Messages != 12 || rep.Damaged != 0 || rep.Skipped != 0 {
		t.Fatalf("Import = %+v, %v, want 3 sessions with 12 messages", rep, err)
	}
	home := t.TempDir()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		done, err := writeback.Export(t.Context(), s, Format(), sess.ID, home, writeback.Exports{})
		if err != nil || !done[0].Exact {
			t.Errorf("Export(%s) = %+v, %v, want it exact", sess.ID, done, err)
		}
	}
	was, is := interoptest.Dump(t, filepath.Join(root, fileName), "sessions", "messages"), interoptest.Dump(t, filepath.Join(home, fileName), "sessions", "messages")
	if !bytes.Equal(was, is) {
		t.Errorf("written again the database is\n%s\nwant\n%s", is, was)
	}
	t.Logf("%d files, %d bytes of records", rep.Files, rep.Bytes)
}
