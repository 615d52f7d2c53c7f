package screen

import (
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// A resized is a console that has been resized to this width.
type resized struct {
	uv.Console
	width int
}

// GetSize implements [uv.Console].
func (r resized) GetSize() (width, height int, err error) { return r.width, 20, nil }

// A terminal wraps its lines before the program learns of the new size: drawing
// before that must count the lines as they are now.
func TestADrawGoesByTheSizeThatTheTerminalHasNow(t *testing.T) {
	term, out := newTerminal(Options{})
	press(term, strings.Repeat("wide ", 10)) // one row of 60 columns
	out.Reset()
	term.console = resized{width: 30}
	press(term, "x")
	if s := out.String(); !strings.Contains(s, "\r"+ansi.CursorUp(1)+ansi.EraseScreenBelow) {
		t.Errorf("a key in a terminal that became narrower draws %q, want it to begin in the row above", s)
	}
}
