//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program is killed while it writes back: the next one completes that, nothing is
// duplicated, and what was written is not taken for a new line.
func TestAKilledSyncGoesOn(t *testing.T) {
	const id = "b0a7ce02-0000-4000-8000-00000000cafe"
	begin := `{"parentUuid":null,"isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"user","message":{"role":"user","content":"one"},"uuid":"u1","timestamp":"2026-11-10T04:00:00.000Z"}
{"parentUuid":"u1","isSidechain":false,"cwd":"/srv/shop","sessionId":"` + id + `","version":"2.1.9","type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"eins"}]},"uuid":"u2","timestamp":"2026-11-10T04:00:01.000Z"}
`
	for _, imports := range []int{0, 1} {
		m := newMachine(t)
		at := filepath.Join(m.home, ".claude", "projects", "-srv-shop", id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(begin), 0o600); err != nil {
			t.Fatal(err)
		}
		m.does("import", at)
		for i, dies := range []string{"before 1", "after 1", "before 2", "after 2"} {
			said := fmt.Sprint("word", i, "word")
			if err := os.WriteFile(filepath.Join(m.work, "said"), []byte(said), 0o600); err != nil {
				t.Fatal(err)
			}
			m.does("append", id, "said")
			if !m.killed(dies, "sync", id) && dies != "after 2" {
				t.Fatalf("sync was not killed %s", dies)
			}
			for range imports {
				m.does("import", at)
			}
			m.does("sync", id)
			if b, err := os.ReadFile(at); err != nil || strings.Count(string(b), `"`+said+`"`) != 1 {
				t.Errorf("killed %s, with %d imports: the file is %s, %v, want %s in it once", dies, imports, b, err, said)
			}
			if again := m.does("sync", id); strings.Contains(again, "wrote") {
				t.Errorf("killed %s, with %d imports: sync again: %s", dies, imports, again)
			}
			m.does("import", at)
			list := m.does("list", "--json")
			if strings.Count(list, `"user":`) != 1 || !strings.Contains(list, fmt.Sprintf(`"messages":%d`, 3+i)) {
				t.Errorf("killed %s, with %d imports: sessions %s, want one of %d messages", dies, imports, list, 3+i)
			}
		}
	}
}
