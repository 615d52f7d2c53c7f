package child

import (
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// A Group is a program that was started, and everything that it starts.
type Group struct {
	cmd      *exec.Cmd
	sys      group
	released sync.Once
}

// linger is how long to read the output of a program that has ended while a program
// that it started still holds the output open.
const linger = 500 * time.Millisecond

// Start starts cmd, which must come from [exec.CommandContext] and have its
// Env set, without our descriptors and in a group of its own. When cmd's
// context ends, the group is killed. Output that stays open after the
// program's end is not read further; cmd.Wait then fails with [exec.ErrWaitDelay].
//
// If this process is killed, the system kills the group on Windows; elsewhere, a
// small process that waits beside the group does. Release the Group when the program
// has ended.
//
// Errors are the system's, such as that there is no such program.
func Start(cmd *exec.Cmd) (*Group, error) {
	if cmd.Env == nil {
		return nil, fmt.Errorf("start %s: its environment is not set", cmd.Path)
	}
	if err := seal(); err != nil {
		return nil, fmt.Errorf("close descriptors to children: %w", err)
	}
	g := &Group{cmd: cmd}
	if err := g.sys.prepare(cmd); err != nil {
		return nil, err
	}
	cmd.Cancel = g.Kill
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = linger
	}
	if err := cmd.Start(); err != nil {
		g.Release()
		return nil, err
	}
	if err := g.sys.started(cmd); err != nil {
		_ = cmd.Process.Kill() // err says what went wrong
		_ = cmd.Wait()
		g.Release()
		return nil, fmt.Errorf("group of %s: %w", cmd.Path, err)
	}
	return g, nil
}

// Kill ends the program, and everything that it started and that still runs, at once.
// Errors are the system's; it is not an error if the program has already ended.
func (g *Group) Kill() error { return g.sys.kill(g.cmd) }

// Release frees the system's resources for the group. What still runs in the group
// continues, even when this process ends, except on Windows, where it is ended.
// Releasing twice is not an error.
func (g *Group) Release() { g.released.Do(g.sys.release) }
