package sqlite

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// processStart returns when this process was started, in nanoseconds since 1970.
func processStart() string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return ""
	}
	return strconv.FormatInt(p.Proc.P_starttime.Nano(), 10)
}

// bootID returns the ID of this boot.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
