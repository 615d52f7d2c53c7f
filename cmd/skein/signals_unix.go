//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreLimits makes a limit on the size of files an error that can be told,
// where the system would end the program in the middle of a write.
func ignoreLimits() { signal.Ignore(syscall.SIGXFSZ) }
