//go:build unix

package write

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns how long this process has used processors.
func processorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// giveWay makes this process one that runs when no other wants to.
func giveWay() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 19) }
