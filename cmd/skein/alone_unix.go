//go:build unix

package main

import "syscall"

// alone keeps a process out of the terminal's signals.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
