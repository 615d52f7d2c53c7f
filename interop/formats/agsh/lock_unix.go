//go:build unix

package agsh

import (
	"errors"
	"syscall"
)

// alive reports whether a process runs, whoever's it is.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
