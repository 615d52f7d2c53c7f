//go:build unix

package child

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"syscall"
)

// A group is a session (setsid): a program in it cannot reach our terminal, so that
// one that asks for a password fails instead of waiting forever.
//
// The keeper ends the group if we die without a chance to do it: it is a shell that
// waits for a word from us, and kills the group if its input ends without one. Linux
// can notify a child of its parent's death, but not what the child has started.
type group struct {
	keeper *exec.Cmd
	in     io.WriteCloser // of the keeper
}

// keep is the keeper's script: it reads the group's number, then the word.
const keep = `read -r group && { read -r word || kill -KILL "-$group"; }`

func (g *group) prepare(cmd *exec.Cmd) (err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	g.keeper = exec.Command("/bin/sh", "-c", keep)
	g.keeper.Dir, g.keeper.Env = "/", []string{}
	g.keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it must not get the terminal's signals
	if g.in, err = g.keeper.StdinPipe(); err != nil {
		return err
	}
	if err = g.keeper.Start(); err != nil {
		_ = g.in.Close() // err says what went wrong
		g.in = nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a system without a shell: there is no keeper, but the group works
	}
	return err
}

func (g *group) started(cmd *exec.Cmd) error {
	if g.in == nil {
		return nil
	}
	_, err := fmt.Fprintln(g.in, cmd.Process.Pid)
	return err
}

func (*group) kill(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	// macOS returns EPERM for a group in which only dead processes are left.
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) {
		return nil
	}
	return err
}

func (g *group) release() {
	if g.in == nil {
		return
	}
	_, _ = io.WriteString(g.in, "over\n") // the keeper may have been killed
	_ = g.in.Close()
	_ = g.keeper.Wait()
}
