package screen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/cancelreader"

	"github.com/skein-dev/skein/prose"
	"github.com/skein-dev/skein/render"
)

// A Terminal is the Screen of a person at a terminal. Make one with [Open].
type Terminal struct {
	o       Options
	console uv.Console
	input   cancelreader.CancelReader
	done    chan struct{}  // closed by Close
	ended   sync.WaitGroup // the goroutines that read and tick
	wake    chan struct{}  // something to Read, or an answer, is there

	mu      sync.Mutex
	paint   painter
	height  int
	err     error // of the terminal
	edit    editor
	recall  recall
	list    list // of completions
	search  *search
	reading bool      // Read waits
	said    []string  // that were entered and not read yet
	left    bool      // the person wants to leave
	warned  time.Time // when Ctrl-C was pressed: soon again, it leaves
	notice  string    // for the person, until the next key
	stop    func()    // nil if the person does not wait
	work    Work
	since   time.Time // that they wait
	stream  *prose.Stream
	asked   *asked
	grabbed chan byte // gets the keys; nil if nobody has grabbed them
}

// Open makes the terminal of in and out a Screen. Close must be called.
// Errors are the terminal's.
func Open(in, out *os.File, o Options) (_ *Terminal, err error) {
	defer wrapf(&err, "screen: open the terminal")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.History == nil {
		o.History = &History{}
	}
	t := &Terminal{o: o, console: uv.NewConsole(in, out, os.Environ()), done: make(chan struct{}), wake: make(chan struct{}, 1)}
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

func wrapf(errp *error, act string) {
	if *errp != nil {
		*errp = fmt.Errorf("%s: %w", act, *errp)
	}
}

// start begins to read keys and to follow the terminal's size.
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
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-t.done:
				cancel()
				for range events { // until the reader has ended
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
	defer wrapf(&err, "screen: close the terminal")
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

// write sends bytes to the terminal. An error is kept for Read.
func (t *Terminal) write(s string) {
	if _, err := t.console.Write([]byte(s)); err != nil && t.err == nil {
		t.err = err
	}
}

// show prints text, which ends its lines itself, and draws the last lines anew.
func (t *Terminal) show(text string) {
	if err := t.paint.draw(text, t.frame()); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *Terminal) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// hangUp ends the conversation with a terminal that is gone.
func (t *Terminal) hangUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leave()
}

// leave lets the person go: Read says so, and what they wait for stops.
func (t *Terminal) leave() {
	t.left = true
	t.halt()
	t.nudge()
}

// halt stops what the person waits for.
func (t *Terminal) halt() {
	if t.stop != nil {
		stop := t.stop
		t.stop = func() {}
		stop()
	}
}

func (t *Terminal) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *Terminal) measure() {
	width, height, err := t.console.GetSize()
	if err != nil {
		return // the old size will do
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resize(width, height)
	t.show("")
}

func (t *Terminal) resize(width, height int) {
	t.paint.width, t.height = max(width, 8), max(height, 4)
	if t.stream != nil {
		t.stream.Use(t.markdown())
	}
}

func (t *Terminal) markdown() *prose.Markdown {
	return prose.New(t.o.Paint, t.paint.width-1)
}

// tick draws what time changes.
func (t *Terminal) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	over := !t.warned.IsZero() && t.o.Now().Sub(t.warned) > again
	if over {
		t.forget()
	}
	if over || t.stop != nil || t.stream != nil {
		t.show("")
	}
}

// Print implements [Screen]. While an answer comes, it stands above what of
// that is not sure yet.
func (t *Terminal) Print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(strings.TrimRight(text, "\n") + "\n")
}

// Note implements [Screen].
func (t *Terminal) Note(text string) { t.Print(text) }

// Say implements [Screen].
func (t *Terminal) Say(piece string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream == nil {
		t.stream = prose.NewStream(t.markdown())
	}
	if lines := t.stream.Add(piece); len(lines) > 0 {
		t.show(strings.Join(lines, "\n") + "\n")
	}
}

// Said implements [Screen].
func (t *Terminal) Said() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
	t.show("")
}

// flush prints what is left of an answer.
func (t *Terminal) flush() {
	if t.stream == nil {
		return
	}
	lines := t.stream.End()
	t.stream = nil
	if len(lines) > 0 {
		t.show(strings.Join(lines, "\n") + "\n")
	}
}

// Begin implements [Screen].
func (t *Terminal) Begin(stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop, t.since, t.work = stop, t.o.Now(), Work{}
	if t.left {
		t.halt()
	}
	t.show("")
}

// Work implements [Screen].
func (t *Terminal) Work(w Work) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.Doing, w.Detail = render.Line(w.Doing), render.Line(w.Detail)
	t.work = w // the next tick shows it
}

// End implements [Screen].
func (t *Terminal) End() (left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop, t.work, t.notice = nil, Work{}, ""
	t.flush()
	t.show("")
	return t.left
}

// Prefill implements [Screen].
func (t *Terminal) Prefill(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.edit.set(text)
	t.show("")
}

// Width returns how many columns the terminal has.
func (t *Terminal) Width() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paint.width
}

// Keys lets the caller have what is pressed from now on, up to release: the
// bytes of the text, and 3 for Ctrl-C. What nobody receives is lost.
func (t *Terminal) Keys() (keys <-chan byte, release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := make(chan byte, 16)
	t.grabbed = c
	return c, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.grabbed = nil
	}
}
