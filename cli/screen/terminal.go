package screen

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein"
)

// A keyboard is what the terminal's keys are read from. Cancel ends a waiting Read.
type keyboard interface {
	io.ReadCloser
	Cancel() bool
}

// A Terminal is the Screen of a person at a terminal. Make one with [Open].
type Terminal struct {
	device
	typing
	answerWait
	input keyboard
	done  chan struct{}  // closed by Close
	ended sync.WaitGroup // the goroutines that read and tick

	// The device's mu guards what follows.
	reading bool     // Read is waiting
	ready   bool     // Read has been called, so the caller is ready
	said    []string // entered but not read yet
	left    bool     // the person wants to leave
	asked   *asked
}

// unconnected returns a terminal that is not connected.
func unconnected(o Options) *Terminal {
	t := &Terminal{device: device{o: o, wake: make(chan struct{}, 1)}, done: make(chan struct{})}
	t.last = t.frame
	return t
}

// Open makes a Screen of the terminal of in and out. Close must be called. Errors
// are the terminal's.
func Open(in, out *os.File, o Options) (_ *Terminal, err error) {
	defer skein.Wrapf(&err, "screen: open the terminal")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.History == nil {
		o.History = &History{}
	}
	t := unconnected(o)
	t.console = uv.NewConsole(in, out, os.Environ())
	width, height, err := t.console.GetSize()
	if err != nil {
		return nil, err
	}
	t.resize(width, height)
	t.paint.w, t.recall = out, newRecall(o.History)
	if t.input, err = uv.NewCancelReader(in); err != nil {
		return nil, err
	}
	if _, err := t.console.MakeRaw(); err != nil {
		return nil, errors.Join(err, t.input.Close())
	}
	t.write(ansi.SetModeBracketedPaste)
	t.start()
	return t, nil
}

// start begins to read keys and to track the terminal's size.
func (t *Terminal) start() {
	events := make(chan uv.Event, 64)
	ctx, cancel := context.WithCancel(context.Background())
	t.ended.Go(func() {
		defer close(events)
		if err := uv.NewTerminalReader(t.input, os.Getenv("TERM")).StreamEvents(ctx, events); err != nil {
			t.fail(err)
		}
	})
	winch := make(chan os.Signal, 1)
	uv.NotifyWinch(winch)
	t.ended.Go(func() {
		defer cancel()
		defer signal.Stop(winch)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.done:
				cancel()
				for range events { // until the reader ends
				}
				return
			case e, ok := <-events:
				if !ok {
					t.hangUp()
					return
				}
				t.event(e)
			case <-winch:
				t.measure()
			case <-tick.C:
				t.tick()
			}
		}
	})
}

// Close implements [Screen].
func (t *Terminal) Close() (err error) {
	defer skein.Wrapf(&err, "screen: close the terminal")
	t.input.Cancel()
	close(t.done)
	t.ended.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop, t.asked, t.reading, t.edit = nil, nil, false, editor{}
	t.flush()
	t.show("")
	t.write(ansi.ResetModeBracketedPaste + ansi.SetModeTextCursorEnable)
	return errors.Join(t.err, t.input.Close(), t.console.Restore())
}

// hangUp ends the conversation when the terminal is gone.
func (t *Terminal) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave()
}

// leave makes Read return ErrLeft, and stops what the person waits for.
func (t *Terminal) leave() {
	t.left = true
	t.halt()
	t.nudge()
}
