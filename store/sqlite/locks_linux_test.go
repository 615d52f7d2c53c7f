//go:build !cgosqlite

// The C driver has only POSIX locks.

package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
)

// heldLocks returns the lines of /proc/locks about a file.
func heldLocks(t *testing.T, name string) (lines []string) {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(name, &st); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skipf("SKIPPED: the kernel does not show its locks: %v", err)
	}
	for l := range strings.Lines(string(b)) {
		if strings.Contains(l, fmt.Sprintf(":%d ", st.Ino)) {
			lines = append(lines, l)
		}
	}
	return lines
}

// POSIX locks are dropped when anything in the process closes the file; these
// must not be.
func TestLocksOutliveAStrayClose(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("x"))
	before := heldLocks(t, name)
	if len(before) == 0 {
		t.Skip("SKIPPED: /proc/locks shows no lock of the open database, so it cannot show that they stay")
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if after := heldLocks(t, name); len(after) != len(before) {
		t.Errorf("a stray open and close leaves the locks\n%q\nof\n%q", after, before)
	}
	add(t, s, "a", user("y"))
	if n := len(events(t, s, skein.SessionID("a"))); n != 3 {
		t.Errorf("the session has %d events, want 3", n)
	}
}
