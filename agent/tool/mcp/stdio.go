package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein/internal/child"
	"github.com/skein-dev/skein/internal/rpclines"
)

// maxMessage is the longest message of a server, in bytes.
const maxMessage = 64 << 20

// start starts the server's program and connects to it.
func (c *client) start(ctx context.Context) (*connection, error) {
	p, err := c.run()
	if err != nil {
		return nil, err
	}
	now, err := c.session(ctx, &sdk.IOTransport{Reader: onlyMessages(p.out, p.errors), Writer: p.in, MaxLineLength: maxMessage}, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		p.end(0)
		return nil, fmt.Errorf("%w%s", err, p.errors.note())
	}
	end := now.end
	now.end = func() error {
		err := end()
		p.end(c.options.Leave)
		return err
	}
	return now, nil
}

// A serverProcess is a running server.
type serverProcess struct {
	cmd    *exec.Cmd
	group  *child.Group
	in     io.WriteCloser
	out    *endNotifier
	errors *lastBytes
	stop   context.CancelFunc
	once   sync.Once
}

func (c *client) run() (*serverProcess, error) {
	ctx, stop := context.WithCancel(context.Background()) // the program outlives the call that starts it
	cmd := exec.CommandContext(ctx, c.server.Command, c.server.Args...)
	cmd.Dir = c.options.Cwd
	cmd.Env = child.Environ(c.options.Environ)
	for name, value := range c.server.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	p := &serverProcess{cmd: cmd, errors: &lastBytes{}, stop: stop}
	cmd.Stderr = p.errors
	in, err := cmd.StdinPipe()
	if err != nil {
		stop()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		stop()
		return nil, errors.Join(err, in.Close())
	}
	p.in, p.out = in, &endNotifier{r: out, over: make(chan struct{})}
	if p.group, err = child.Start(cmd); err != nil {
		stop()
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	return p, nil
}

// end ends the program: it closes the program's input, and after leave, or when
// the program's output ends, kills it with all processes that it started.
func (p *serverProcess) end(leave time.Duration) {
	p.once.Do(func() {
		_ = p.in.Close() // it may be closed already
		t := time.NewTimer(leave)
		defer t.Stop()
		select {
		case <-p.out.over:
		case <-t.C:
		}
		// Kill before Wait: afterward the process ID may belong to another
		// process.
		_ = p.group.Kill() // if this fails, the process is not ours any more
		p.stop()
		_ = p.cmd.Wait() // the exit status does not matter
		p.group.Release()
	})
}

// endNotifier is a reader that announces its end.
type endNotifier struct {
	r    io.Reader
	over chan struct{}
	once sync.Once
}

// Read implements [io.Reader].
func (w *endNotifier) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil {
		w.once.Do(func() { close(w.over) })
	}
	return n, err
}

// Close implements [io.Closer]. It does nothing, so reading continues until the
// program ends.
func (w *endNotifier) Close() error { return nil }

// maxTail is how many bytes of a program's standard error are kept.
const maxTail = 2 << 10

// A lastBytes keeps the end of what was written to it.
type lastBytes struct {
	mu   sync.Mutex
	data []byte
}

// Write implements [io.Writer]. It never fails.
func (t *lastBytes) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-maxTail):]...)
	if more := len(t.data) - maxTail; more > 0 {
		t.data = append(t.data[:0], t.data[more:]...)
	}
	return len(p), nil
}

// note returns what was written last, for the end of an error.
func (t *lastBytes) note() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.TrimSpace(strings.ToValidUTF8(string(t.data), "\ufffd"))
	if s == "" {
		return ""
	}
	return "; it wrote: " + s
}

// onlyMessages filters a server's output down to its messages. Other output,
// such as lines of a log, goes to other, cut to its beginning.
func onlyMessages(in io.ReadCloser, other io.Writer) *rpclines.Reader {
	return rpclines.New(in, maxMessage, func(text []byte, why error) error {
		if errors.Is(why, rpclines.ErrLong) {
			return fmt.Errorf("a line of its output has more than %d bytes", maxMessage)
		}
		fmt.Fprintf(other, "%.200s\n", text)
		return nil
	})
}
