package screen

import (
	"strings"

	"github.com/skein-dev/skein/cli/prose"
)

// Print implements [Screen]. While an answer arrives, text is printed above the
// lines that may still change.
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

// flush prints the rest of an answer.
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
