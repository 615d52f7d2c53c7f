package acp

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/skein-dev/skein/internal/child"
)

// An agentProcess is the agent's program.
type agentProcess struct {
	cmd    *exec.Cmd
	group  *child.Group
	in     io.WriteCloser
	out    io.Reader
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // how it ended; valid once ended is closed
	once   sync.Once
}

// start starts the agent.
func start(o Options) (p *agentProcess, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...)
	cmd.Env, cmd.Stderr = o.Env, o.Errs
	p = &agentProcess{cmd: cmd, cancel: cancel, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, w, err := os.Pipe() // unlike cmd.StdoutPipe, it can be read to its end after Wait
	if err != nil {
		return nil, err
	}
	cmd.Stdout, p.out = w, out
	p.group, err = child.Start(cmd)
	w.Close() //nolint:errcheck // the agent has its own
	if err != nil {
		out.Close() //nolint:errcheck // nothing was written to it
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	go func() {
		p.err = exitError(filepath.Base(o.Command[0]), cmd.Wait())
		close(p.ended)
	}()
	return p, nil
}

// endInput ends the agent's input once what is queued is written.
func (p *agentProcess) endInput(q *peerQueue) {
	go q.end(p.ended)
}

// killAfter ends the agent, and what it started, some time from now.
func (p *agentProcess) killAfter(d time.Duration) {
	t := time.AfterFunc(d, p.cancel)
	go func() {
		<-p.ended
		t.Stop()
	}()
}

// wait waits until the agent has ended.
func (p *agentProcess) wait() error {
	<-p.ended
	return p.err
}

// kill ends the agent if it still runs, and what it started.
func (p *agentProcess) kill() {
	p.once.Do(func() {
		p.cancel()
		<-p.ended
		p.group.Release()
	})
}
