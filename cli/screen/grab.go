package screen

import uv "github.com/charmbracelet/ultraviolet"

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

// hand gives a key to who has grabbed the keys.
func (t *Terminal) hand(key uv.Key, name string) {
	text := key.Text
	if name == "ctrl+c" {
		text = "\x03"
	}
	for _, b := range []byte(text) {
		select {
		case t.grabbed <- b:
		default:
		}
	}
}
