package screen

import "github.com/skein-dev/skein/cli/prose"

// Width returns how many columns the terminal has.
func (t *Terminal) Width() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paint.width
}

// measure draws anew after the terminal has said that it has another size.
func (t *Terminal) measure() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show("")
}

// fit takes over the terminal's size. It may have changed before it says so, and
// what is drawn by the old one stays behind.
func (t *Terminal) fit() {
	if t.console == nil {
		return
	}
	width, height, err := t.console.GetSize()
	if err != nil || width == t.paint.width && height == t.height {
		return // the old size will do
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
