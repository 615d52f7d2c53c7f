package screen

import "github.com/skein-dev/skein/prose"

// Width returns how many columns the terminal has.
func (t *Terminal) Width() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paint.width
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
