package shell

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of what is kept, in bytes.
const (
	maxKept  = 32 << 20 // of the output
	maxEnd   = 8 << 10  // of the end of longer output
	maxShown = 1 << 20  // that people are shown while it runs
)

// A collector keeps the output of a command.
type collector struct {
	mu       sync.Mutex
	data     []byte
	last     []byte // the end of the excess
	lost     int64  // bytes that are neither in data nor in last
	ended    bool
	progress func(string) // may be nil
	shown    int          // bytes of data that were shown
}

// Write implements [io.Writer]. It never fails, so that a command that writes
// too much is not disturbed.
func (c *collector) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return len(p), nil
	}
	keep := min(len(p), maxKept-len(c.data))
	c.data = append(c.data, p[:keep]...)
	c.last = append(c.last, p[keep:]...)
	if more := len(c.last) - maxEnd; more > 4*maxEnd {
		c.lost += int64(more)
		c.last = append(c.last[:0], c.last[more:]...)
	}
	c.show(len(c.data) - unfinished(c.data))
	return len(p), nil
}

// show shows people data up to end.
func (c *collector) show(end int) {
	if c.progress != nil && end > c.shown && c.shown < maxShown {
		c.progress(strings.ToValidUTF8(string(c.data[c.shown:end]), "\ufffd"))
		c.shown = end
	}
}

// end returns the output: the beginning, how many bytes after it were dropped,
// and the end. Later output is dropped.
func (c *collector) end() (data []byte, lost int64, last []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.show(len(c.data))
	return c.data, c.lost, c.last
}

// unfinished returns how many bytes at the end of b are the beginning of an
// incomplete character.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
