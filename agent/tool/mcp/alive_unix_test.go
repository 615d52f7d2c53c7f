//go:build unix

package mcp_test

import (
	"strconv"
	"syscall"
	"testing"
)

// alive reports whether the process, which was a child, still runs.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// leak opens a descriptor that children inherit, like one left open by a parent
// process, and returns its number.
func leak(t *testing.T) string {
	t.Helper()
	n, err := syscall.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(n) })
	return strconv.Itoa(n)
}
