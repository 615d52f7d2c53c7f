package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

func TestAFileThatCameMeanwhileStays(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "a.jsonl")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.WriteFile(at, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "temp"), []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := link(root, "temp", "a.jsonl"); !errors.Is(err, skein.ErrExists) {
		t.Errorf("link to where a file is = %v, want ErrExists", err)
	}
	if err := PutFile(dir, "a.jsonl", lines.New([]byte("ours")), lines.New([]byte("what was"))); !errors.Is(err, ErrChanged) {
		t.Errorf("putFile where something else stands = %v, want errChanged", err)
	}
	if b, err := os.ReadFile(at); string(b) != "theirs" {
		t.Errorf("the file has %q (%v), want what was there", b, err)
	}
}
