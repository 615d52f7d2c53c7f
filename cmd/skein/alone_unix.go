//go:build unix

package main

import "syscall"

// alone puts a process into its own session (setsid), where the terminal's signals
// do not reach it.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
