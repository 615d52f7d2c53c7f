//go:build unix

package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// peakMemory returns the most memory that this process has had, in bytes; 0 if the
// system does not say.
//
// On Linux, what the system says of a process that has ended is useless: by that
// count, it had at least as much as the one that started it.
func peakMemory() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var u syscall.Rusage
		if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
			return 0
		}
		return int64(u.Maxrss) //nolint:unconvert // it is an int32 on some systems
	}
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			kB, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return 0
			}
			return kB << 10
		}
	}
	return 0
}
