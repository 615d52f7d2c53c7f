package screen

import "github.com/skein-dev/skein/render"

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
