//go:build unix

package folder

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAFIFOIsNamedAndNotWaitedFor(t *testing.T) {
	root := lay(t, map[string]string{"a": "x"})
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if len(tr.Files) != 1 || len(tr.Skips) != 1 || !strings.Contains(tr.Skips[0].Why, "no regular file") {
		t.Errorf("Open finds %v and skips %v, want a and the FIFO", tr.Files, tr.Skips)
	}
	if _, err := tr.file("pipe"); err == nil {
		t.Error("a FIFO that took a file's place can be opened")
	}
}
