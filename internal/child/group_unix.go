//go:build unix

package child

import (
	"errors"
	"os/exec"
	"syscall"
)

// A group is a session: a program in it cannot reach our terminal, so that
// one that asks for a password fails instead of waiting for ever.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func (group) started(*exec.Cmd) error { return nil }

func (group) kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	// macOS says EPERM for a group of which only the dead are left.
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

func (group) release() {}
