package gemini

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

func TestADocumentIsKnownUnderAnyName(t *testing.T) {
	data := []byte("{\n  \"sessionId\": \"f7000000-0000-4000-8000-000000000001\",\n  \"projectHash\": \"ab\",\n  \"startTime\": \"2026-01-15T20:51:48.582Z\",\n" +
		"  \"messages\": [\n    {\n      \"id\": \"m1\",\n      \"type\": \"user\",\n      \"content\": \"Which colour?\"\n    }\n  ]\n}")
	for _, name := range []string{"0/full.jsonl", "backup/talk.json", "talk"} {
		at := filepath.Join(t.TempDir(), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
		store := memory.New()
		defer store.Close()
		rep, err := importer.Import(t.Context(), store, []interop.Format{Qwen(), Format()}, []string{at}, interop.Options{})
		if err != nil || rep.Sessions != 1 || rep.Messages != 1 || rep.Damaged != 0 {
			t.Errorf("Import(%s) = %+v, %v, want 1 session of 1 message", name, rep, err)
		}
	}
}
