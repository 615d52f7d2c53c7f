package cursor

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func TestDatabases(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata/databases", Tables: []string{"meta", "blobs"}})
}

func TestOldTranscripts(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata/text"})
}

// lines is the suite of the transcripts, which are files.
func lines() interoptest.Suite {
	f := Format()
	f.Unit, f.Look = nil, nil
	return interoptest.Suite{Format: f, Dir: "testdata/lines"}
}

func TestTranscripts(t *testing.T) { interoptest.Run(t, lines()) }

func FuzzTranscript(f *testing.F) {
	s := lines()
	s.Format.Match = func(name string, _ []byte) (g interop.Guess) {
		if strings.HasSuffix(name, ".jsonl") {
			g.Sure = interop.Known
		}
		return g
	}
	interoptest.Fuzz(f, s)
}

// bring imports what is at path into a new store.
func bring(t testing.TB, path string) (*memory.Store, interop.Report) {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{path}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", path, err)
	}
	return s, rep
}

// place returns a new folder with its true path.
func place(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The editor's database is restored with only the rows of its sessions, unchanged
// except for the keys.
func TestOfTheEditorsDatabaseOnlySessionsAreRead(t *testing.T) {
	root := filepath.Join(place(t), "globalStorage")
	at := filepath.Join(root, stateName)
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	build(t, at, cases()["databases/editor/globalStorage/state.vscdb"]...).Close()
	s, _ := bring(t, root)
	home := place(t)
	for sess, err := range s.Sessions(t.Context(), skein.Filter{NoChildren: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writeback.Export(t.Context(), s, Format(), sess.ID, home, writeback.Exports{}); err != nil {
			t.Fatal(err)
		}
	}
	keys := func(path string) (all []string) {
		db, err := foreign.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.Rows(t.Context(), shelf.Table, "key", func(r foreign.Row) error {
			all = append(all, string(r.AppendLine(nil)))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	var want []string
	for _, line := range keys(at) {
		if !strings.Contains(line, "agentKv") && !strings.Contains(line, "gone back over") && !strings.Contains(line, ":empty") {
			want = append(want, strings.Replace(line, "c2VjcmV0", "", 1))
		}
	}
	if diff := cmp.Diff(want, keys(filepath.Join(home, "globalStorage", stateName))); diff != "" {
		t.Errorf("rows written again (-was +is):\n%s", diff)
	}
	for f, err := range s.Files(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range s.Records(t.Context(), f.Format, f.Path, 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, never := range []string{"never read", "c2VjcmV0", "agentKv"} {
				if bytes.Contains(r.Raw, []byte(never)) {
					t.Errorf("record %d of %s has %q", r.N, f.Path, never)
				}
			}
		}
	}
}

func TestAComposerThatDidNotChangeIsNotReadAgain(t *testing.T) {
	root := filepath.Join(place(t), "globalStorage")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(root, stateName)
	db := build(t, at, cases()["databases/editor/globalStorage/state.vscdb"]...)
	stamps := func() map[string]string {
		u, err := look(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		sources, err := u.Sources(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, s := range sources {
			all[s.Name] = s.Stamp
		}
		return all
	}
	before := stamps()
	const id = "3b5c1c52-0001-4a7e-8f55-0a1b2c3d4e01"
	run(t, db, kv("bubbleId:"+id+":b4", `{"_v":3,"type":2,"bubbleId":"b4","createdAt":"2025-12-17T19:34:00.000Z","text":"Eight.","tokenCount":{"inputTokens":1200,"outputTokens":34}}`))
	for name, now := range stamps() {
		if changed := now != before[name]; changed != (name == id) {
			t.Errorf("after one bubble was written again, the stamp of %q has changed: %v", name, changed)
		}
	}
	s, _ := bring(t, root)
	run(t, db, kv("bubbleId:"+id+":b4", `{"_v":3,"type":2,"bubbleId":"b4","text":"Nine, I think."}`))
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{root}, interop.Options{})
	if err != nil || rep.Events != 1 {
		t.Errorf("Import after a bubble changed in place = %+v, %v, want one event", rep, err)
	}
}

func TestATranscriptIsLeftToItsDatabase(t *testing.T) {
	home := place(t)
	const id = "5c1d2e3f-0001-4a7e-8f55-0a1b2c3d4e01"
	chat := filepath.Join(home, "chats", "0f", id)
	said := filepath.Join(home, "projects", "p", "agent-transcripts", id)
	for _, dir := range []string{chat, said} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	build(t, filepath.Join(chat, storeName), chatOf(`{"agentId":"x","latestRootBlobId":"ROOT","createdAt":1}`, `{"role":"user","content":"hi"}`)...).Close()
	line := []byte(`{"role":"user","message":{"content":"hi"}}` + "\n")
	if err := os.WriteFile(filepath.Join(said, id+".jsonl"), line, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, rep := bring(t, home); rep.Sessions != 1 || rep.Messages != 1 {
		t.Errorf("Import = %+v, want one session with one message", rep)
	}
}
