package child

import (
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// A Group is a program that was started, and all that it starts.
type Group struct {
	cmd      *exec.Cmd
	sys      group
	released sync.Once
}

// linger is how long to read what a program has written whose output a
// program that it started still holds open.
const linger = 500 * time.Millisecond

// Start starts cmd, which must come from [exec.CommandContext] and have its
// Env set, without our descriptors and in a group of its own. When cmd's
// context ends, the group is killed. Output that stays open after the
// program's end is let go; cmd.Wait then fails with [exec.ErrWaitDelay].
//
// When we are killed ourselves, the system does that on Windows, and elsewhere a
// small process that waits beside the group. Release the Group when the program
// has ended.
//
// Errors are those of the system: there is no such program.
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
		_ = cmd.Process.Kill() // the error says what went wrong before
		_ = cmd.Wait()
		g.Release()
		return nil, fmt.Errorf("group of %s: %w", cmd.Path, err)
	}
	return g, nil
}

// Kill ends the program and all that it started and that still runs, at once.
// Errors are the system's; that it has ended before is none.
func (g *Group) Kill() error { return g.sys.kill(g.cmd) }

// Release gives back what the system keeps of the group. What still runs in
// it runs on, also when we end, except on Windows, where it is ended. Releasing
// twice is fine.
func (g *Group) Release() { g.released.Do(g.sys.release) }
