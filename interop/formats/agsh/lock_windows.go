package agsh

import (
	"errors"
	"os"
	"syscall"
)

// alive reports whether a process is running, under any user.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	_ = p.Release()
	return true
}
