package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	write := func() []byte {
		tr := NewTranscript(7)
		tr.Turn()
		tr.Turn()
		return tr.Bytes()
	}
	if a, b := write(), write(); !bytes.Equal(a, b) {
		t.Errorf("seed 7 gives %d bytes, then %d others", len(a), len(b))
	}
}

func TestEveryLineIsAnObject(t *testing.T) {
	tr := NewTranscript(1)
	for range 20 {
		tr.Turn()
	}
	kinds := map[string]int{}
	for line := range bytes.Lines(tr.Bytes()) {
		var v struct{ Type, UUID string }
		if err := json.Unmarshal(line, &v); err != nil || v.UUID == "" {
			t.Fatalf("line %.80q: type %q, uuid %q, %v", line, v.Type, v.UUID, err)
		}
		kinds[v.Type]++
	}
	if kinds["user"] < 20 || kinds["assistant"] < 40 {
		t.Errorf("20 turns give %v, want prompts, results and answers", kinds)
	}
}

func TestWordsFollowZipf(t *testing.T) {
	w := NewWords(3)
	text := w.Prose(1 << 20)
	if !utf8.ValidString(text) {
		t.Error("Prose is not UTF-8")
	}
	the, rare := strings.Count(text, " the "), strings.Count(text, " "+w.Rank(1000)+" ")
	if the < 3000 || rare == 0 || rare > 100 {
		t.Errorf("in 1 MB the first word stands %d times and that of rank 1000 %d times, want thousands and a few", the, rare)
	}
}

func TestACorpusHasTheSizeThatWasAsked(t *testing.T) {
	c, err := NewCorpus(t.TempDir(), 1, 40, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	if c.Bytes < 2<<20 || c.Bytes > 7<<20 {
		t.Errorf("NewCorpus(4 MB) wrote %d bytes", c.Bytes)
	}
	files, err := filepath.Glob(filepath.Join(c.Dir, "projects", "*", "*.jsonl"))
	if err != nil || len(files) != 40 {
		t.Errorf("NewCorpus wrote %d files, want 40: %v", len(files), err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, want 0600: %v", info.Mode(), err)
	}
}

// Every copy is a session of its own, and as long as the original.
func TestCopiesOfRealFilesDifferOnlyInTheirIDs(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	const id = "0198c7a1-3f52-7c11-9d3e-5b1a2c3d4e5f"
	line := `{"uuid":"` + id + `","message":{"id":"msg_01AbCdEfGhIjKlMnOp"},"text":"so far, so good"}` + "\n"
	if err := os.WriteFile(filepath.Join(from, id+".jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Multiply(to, from, int64(2*len(line)))
	if err != nil || c.Files != 2 || c.Bytes != int64(2*len(line)) {
		t.Fatalf("Multiply = %+v, %v; want two copies", c, err)
	}
	seen := map[string]bool{}
	for n := range 2 {
		paths, err := filepath.Glob(filepath.Join(to, fmt.Sprintf("%03d", n), "*.jsonl"))
		if err != nil || len(paths) != 1 {
			t.Fatalf("copy %d: %q, %v", n, paths, err)
		}
		b, err := os.ReadFile(paths[0])
		name := strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")
		if err != nil || len(b) != len(line) || !strings.HasSuffix(string(b), `"text":"so far, so good"}`+"\n") || !strings.Contains(string(b), name) {
			t.Errorf("copy %d, %s: %s, %v", n, name, b, err)
		}
		if seen[name] || name == id || strings.Contains(string(b), "msg_01AbCdEfGhIjKlMnOp") {
			t.Errorf("copy %d has an ID that another has: %s", n, b)
		}
		seen[name] = true
	}
}
