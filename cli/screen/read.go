package screen

import (
	"context"
	"strings"
	"time"

	"github.com/skein-dev/skein/render"
)

// Read implements [Screen].
func (t *Terminal) Read(ctx context.Context) (string, error) {
	for {
		text, err, ok := t.entered()
		if ok {
			return text, err
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
			t.mu.Lock()
			defer t.mu.Unlock()
			t.reading = false
			t.show("")
			return "", ctx.Err()
		}
	}
}

// entered returns what the person has entered, if they have.
func (t *Terminal) entered() (text string, err error, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading, t.ready = true, true
	switch {
	case t.err != nil:
		err = t.err
	case len(t.said) > 0:
		text, t.said = t.said[0], t.said[1:]
	case t.left:
		err = ErrLeft
	default:
		t.show("")
		return "", nil, false
	}
	t.reading = false
	t.show(t.echo(text))
	return text, err, true
}

// enter takes the text in the editor as entered.
func (t *Terminal) enter() {
	text := strings.TrimSpace(t.edit.text)
	if text == "" {
		return
	}
	t.edit = editor{cut: t.edit.cut}
	if err := t.o.History.Add(text); err != nil && t.err == nil {
		t.notice = "not in the history: " + err.Error()
	}
	t.recall = newRecall(t.o.History)
	t.said = append(t.said, text)
	t.nudge()
}

// Unread implements [Screen].
func (t *Terminal) Unread() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.said
	if text := strings.TrimSpace(t.edit.text); text != "" {
		all = append(all, text)
	}
	t.said, t.edit = nil, editor{cut: t.edit.cut}
	return all
}

// Prefill implements [Screen].
func (t *Terminal) Prefill(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if typed := t.edit.text; typed != "" {
		text += "\n" + typed
	}
	t.edit.set(text)
	t.show("")
}

// answerWait is what a person waits for. The device's mu guards it.
type answerWait struct {
	stop   func() // nil if the person is not waiting
	work   Busy
	since  time.Time // when they began to wait
	warned time.Time // when Ctrl-C was last pressed; pressed again soon, it leaves
	notice string    // shown until the next key
}

// halt stops what the person waits for.
func (t *answerWait) halt() {
	if t.stop != nil {
		stop := t.stop
		t.stop = func() {}
		stop()
	}
}

// Begin implements [Screen].
func (t *Terminal) Begin(stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop, t.since, t.work = stop, t.o.Now(), Busy{}
	if t.left {
		t.halt()
	}
	t.show("")
}

// Work implements [Screen].
func (t *Terminal) Work(w Busy) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.Doing, w.Detail = render.Line(w.Doing), render.Line(w.Detail)
	t.work = w // the next tick shows it
}

// End implements [Screen].
func (t *Terminal) End() (left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop, t.work, t.notice = nil, Busy{}, ""
	t.flush()
	t.show("")
	return t.left
}

// tick redraws what changes with time.
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
