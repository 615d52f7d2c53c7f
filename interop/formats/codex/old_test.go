package codex

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/store/memory"
)

func TestOldDocuments(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Old(), Dir: "olddata"})
}

// Under any name, and with any reader.
func TestAnOldDocumentIsKnownByWhatIsInIt(t *testing.T) {
	const id = "5b0e1c5a-7d3e-4c1f-9a51-2f6b7c8d9e01"
	data, err := os.ReadFile("olddata/home/.codex/sessions/rollout-2025-05-02-" + id + ".json")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"old.json": 1, "rollout-x.json": 1, "x.txt": 1, "rollout-y.json": 0} {
		dir, data := t.TempDir(), data
		if want == 0 {
			data = []byte(`{"session":[],"items":[]}`)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		store := memory.New()
		defer store.Close()
		rep, err := importer.Import(t.Context(), store, []interop.Format{Format(), Old()}, []string{dir}, interop.Options{})
		if err != nil || rep.Sessions != want || rep.Unmatched != 1-want || rep.Damaged != 0 {
			t.Errorf("Import of %s = %+v, %v, want %d session", name, rep, err, want)
		}
		if want == 0 {
			continue
		}
		if s, err := store.Session(t.Context(), id); err != nil || s.Origin.Format != OldName || s.Created.String() != "2025-05-02T10:11:12.345Z" {
			t.Errorf("Session(%s) = %+v, %v, want one of %s, of its document's time", id, s, err, OldName)
		}
	}
}
