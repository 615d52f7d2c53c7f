package claudecode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/interoptest"
)

func TestAnyLineIsWrittenBack(t *testing.T) {
	const id = "b0a7ce02-0000-4000-8000-00000000cafe"
	interoptest.Back{Format: Format(), Session: id, From: 17, Seeds: 8, Waits: true, Lay: func(t testing.TB) string {
		home := realDir(t.(*testing.T))
		dir := filepath.Join(home, "projects", "-srv-shop")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		begin := `{"parentUuid":null,"isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"user","message":{"role":"user","content":"one"},"uuid":"u1","timestamp":"2026-11-10T04:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"eins"}]},"uuid":"u2","timestamp":"2026-11-10T04:00:01.000Z"}
`
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(begin), 0o600); err != nil {
			t.Fatal(err)
		}
		return home
	}}.Run(t)
}
