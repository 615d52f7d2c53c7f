//go:build unix

package storetest

import "syscall"

// canStop says that a process can be stopped and go on.
const canStop = true

func (p *process) stop() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

func (p *process) goOn() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
