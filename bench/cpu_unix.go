//go:build !windows

package main

import (
	"syscall"
	"time"
)

// spent returns the CPU time that this process has used, with that of the system
// for it: another program that is busy hardly changes it, as it does the time on
// the clock.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
