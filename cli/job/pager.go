package job

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
)

// Page calls write with the writer for its output: the pager, if stdout is a
// terminal and the output does not fit on it, else stdout.
//
// The error is that of write, or of the pager.
func (j *Job) Page(ctx context.Context, write func(io.Writer) error) error {
	command := j.Settings.Text("pager")
	if !j.Terminal.Out || j.NoPager || j.Getenv("TERM") == "dumb" || !canRun(command) {
		return write(j.Stdout)
	}
	p := &pager{ctx: ctx, job: j, command: command, room: max(j.Terminal.Height, 24) - 1}
	err := write(p)
	if closed := p.close(); err == nil || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = closed // quitting the pager early is not an error
	}
	return err
}

// canRun reports whether the program in command exists. If it did not, the shell
// would print an error and the output would be lost.
func canRun(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 || words[0] == "cat" {
		return false
	}
	_, err := exec.LookPath(words[0])
	return err == nil || strings.Contains(words[0], "=")
}

// A pager buffers the output until it no longer fits on the terminal; then it
// starts the program.
type pager struct {
	ctx     context.Context
	job     *Job
	command string
	room    int // lines
	kept    bytes.Buffer
	cmd     *exec.Cmd
	to      io.WriteCloser // nil until the program runs
	direct  bool           // the program could not be started
}

func (p *pager) Write(b []byte) (int, error) {
	switch {
	case p.to != nil:
		return p.to.Write(b)
	case p.direct:
		return p.job.Stdout.Write(b)
	}
	p.kept.Write(b)
	if bytes.Count(p.kept.Bytes(), []byte("\n")) <= p.room {
		return len(b), nil
	}
	if err := p.start(); err != nil {
		return len(b), err
	}
	return len(b), nil
}

// start runs the program and passes it what was buffered.
func (p *pager) start() error {
	cmd := pagerCommand(p.ctx, p.command)
	cmd.Stdout, cmd.Stderr = p.job.Stdout, p.job.Stderr
	cmd.Env = cmd.Environ()
	if p.job.Getenv("LESS") == "" {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	to, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.direct = true
		_, err := p.job.Stdout.Write(p.kept.Bytes())
		return err
	}
	p.cmd, p.to = cmd, to
	_, err = to.Write(p.kept.Bytes())
	return err
}

// close shows the rest and waits until the person quits the pager.
func (p *pager) close() error {
	if p.to == nil {
		if p.direct {
			return nil
		}
		_, err := p.job.Stdout.Write(p.kept.Bytes())
		return err
	}
	if err := p.to.Close(); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	if err := p.cmd.Wait(); err != nil && p.ctx.Err() == nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			return nil // a pager's exit code does not matter
		}
		return err
	}
	return nil
}

// pagerCommand returns the command for a shell to run.
func pagerCommand(ctx context.Context, command string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		words := strings.Fields(command)
		return exec.CommandContext(ctx, words[0], words[1:]...)
	}
	return exec.CommandContext(ctx, "sh", "-c", command)
}
