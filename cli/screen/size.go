package screen

import "github.com/skein-dev/skein/cli/prose"

// Width returns the width of the terminal in columns.
func (t *Terminal) Width() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paint.width
}

// measure redraws after the terminal has reported a new size.
func (t *Terminal) measure() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show("")
}

// fit adopts the terminal's size. The size may change before the terminal reports
// it, and lines drawn for the old size would leave remains.
func (t *Terminal) fit() {
	if t.console == nil {
		return
	}
	width, height, err := t.console.GetSize()
	if err != nil || width == t.paint.width && height == t.height {
		return // keep the old size
	}
	t.resize(width, height)
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
