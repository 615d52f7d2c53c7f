package screen

import uv "github.com/charmbracelet/ultraviolet"

// Keys gives the caller all keys pressed until release is called: the bytes of
// their text, and 3 for Ctrl-C. Keys are dropped if nobody receives them in time.
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

// hand passes a key to the caller of Keys.
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
