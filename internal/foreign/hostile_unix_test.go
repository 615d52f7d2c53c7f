//go:build unix

package foreign

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAFIFOAndALinkAreNoDatabases(t *testing.T) {
	dir := t.TempDir()
	path, _ := fixture(t)
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{pipe, link} {
		if db, err := Open(t.Context(), at); err == nil {
			db.Close()
			t.Errorf("Open(%s) gives no error", filepath.Base(at))
		}
	}
}
