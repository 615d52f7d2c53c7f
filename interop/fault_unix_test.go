//go:build unix

package interop_test

import (
	"os"
	"syscall"
	"testing"
)

func pipe(t *testing.T, path string) bool {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}

// unreadable makes a file that cannot be read; root can read any file, so for root it
// makes none.
func unreadable(t *testing.T, p *place, name string) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return false
	}
	p.write(name, "s1")
	if err := os.Chmod(p.path(name), 0); err != nil {
		t.Fatal(err)
	}
	return true
}
