//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreLimits makes a write beyond the limit on file sizes return an error. By
// default the signal would end the program in the middle of the write.
func ignoreLimits() { signal.Ignore(syscall.SIGXFSZ) }
