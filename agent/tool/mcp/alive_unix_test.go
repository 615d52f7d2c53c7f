//go:build unix

package mcp_test

import (
	"strconv"
	"syscall"
	"testing"
)

// alive reports whether the process, which was our child, is there.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// leak opens a descriptor that children inherit, as one does that whoever
// started us left open, and returns its number.
func leak(t *testing.T) string {
	t.Helper()
	n, err := syscall.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(n) })
	return strconv.Itoa(n)
}
