//go:build unix

package harness

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/skein-dev/skein"
)

// CanStop says that a process can be stopped and continued.
const CanStop = true

// StopAtRest stops a process, as Ctrl-Z does, while it is not writing to s: it
// may be updating its index in the background, and then nobody else could
// write. It adds one or more sessions without messages.
//
// Errors are ctx's, the system's and those of the append.
func StopAtRest(ctx context.Context, s skein.Store, p *os.Process) error {
	for {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := write(short, s)
		late := short.Err() != nil
		cancel()
		if err == nil || !late || ctx.Err() != nil {
			return err
		}
		if err := p.Signal(syscall.SIGCONT); err != nil {
			return err
		}
		if err := write(ctx, s); err != nil { // the process has finished its write
			return err
		}
	}
}

func write(ctx context.Context, s skein.Store) error {
	_, err := s.Append(ctx, skein.Batch{Session: skein.NewSessionID(time.Now()), Events: []skein.Event{skein.NewEvent(skein.KindCreated, 0, skein.Created{})}})
	return err
}

// Stop stops the child as [StopAtRest] does. The error is that function's.
func (p *Process) Stop() error { return StopAtRest(p.t.Context(), p.t.Store, p.cmd.Process) }

// GoOn continues a stopped child. The error is the system's.
func (p *Process) GoOn() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
