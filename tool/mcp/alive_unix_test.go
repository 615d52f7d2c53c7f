//go:build unix

package mcp_test

import "syscall"

// alive reports whether the process, which was our child, is there.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
