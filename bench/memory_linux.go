package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// watchMemory polls a running process until done is closed, and returns the
// most memory that it had, in bytes; 0 if that is unknown.
//
// What the system reports after the process has ended is useless: by that
// count, the process had at least as much as the one that started it.
func watchMemory(pid int, done <-chan struct{}) (most int64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return max(most, peakSoFar(pid))
		case <-tick.C:
			most = max(most, peakSoFar(pid))
		}
	}
}

// peakSoFar reads VmHWM, the most memory that a process has had since its
// program began.
func peakSoFar(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if f := bytes.Fields(line); len(f) == 3 && string(f[0]) == "VmHWM:" {
			n, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// peakMemory returns 0: see watchMemory.
func peakMemory(*os.ProcessState) int64 { return 0 }

// written returns how many system calls of this process wrote, and how many bytes; 0
// if that is unknown.
func written() (calls, size int64) {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(b) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		switch {
		case err != nil:
		case string(name) == "syscw":
			calls = n
		case string(name) == "wchar":
			size = n
		}
	}
	return calls, size
}
