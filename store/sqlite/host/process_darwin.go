package host

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ProcessStart returns when this process was started, in nanoseconds since 1970.
func ProcessStart() string {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return ""
	}
	return strconv.FormatInt(p.Proc.P_starttime.Nano(), 10)
}

// BootID returns the ID of this boot.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
