//go:build unix

package agsh

import (
	"errors"
	"syscall"
)

// alive reports whether a process is running, under any user.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
