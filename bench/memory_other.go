//go:build !linux && !windows

package main

import (
	"os"
	"runtime"
	"syscall"
)

// watchMemory only waits until done is closed; peakMemory measures.
func watchMemory(_ int, done <-chan struct{}) int64 {
	<-done
	return 0
}

// peakMemory returns the most memory that an ended process had, in bytes; 0 if
// the system does not say.
func peakMemory(p *os.ProcessState) int64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}

// written returns 0: this system does not tell it.
func written() (calls, size int64) { return 0, 0 }
