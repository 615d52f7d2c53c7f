package screen

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A painter redraws the last lines of a terminal, and prints text above them.
type painter struct {
	w     io.Writer
	width int
	live  []string // lines drawn
	row   int      // row of the cursor among them
	col   int      // column of the cursor
}

// A frame is the new content of the last lines.
type frame struct {
	lines    []string // each without line feeds and narrower than the terminal
	row, col int      // position of the cursor
	hide     bool     // hide the cursor
}

// above returns how many rows of the terminal there are from the first live line to
// the cursor. A terminal that became narrower has wrapped lines that were wider.
func (p *painter) above() (rows int) {
	for _, l := range p.live[:min(p.row, len(p.live))] {
		rows += max((ansi.StringWidth(l)+p.width-1)/p.width, 1)
	}
	return rows + p.col/p.width
}

// draw prints text above and f in place of what was drawn before.
func (p *painter) draw(text string, f frame) error {
	var b strings.Builder
	b.WriteString(ansi.SetModeSynchronizedOutput + ansi.ResetModeTextCursorEnable)
	b.WriteByte('\r')
	if up := p.above(); up > 0 {
		b.WriteString(ansi.CursorUp(up))
	}
	b.WriteString(ansi.EraseScreenBelow)
	b.WriteString(strings.ReplaceAll(text, "\n", "\r\n"))
	drawn := make([]string, len(f.lines))
	for i, l := range f.lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		drawn[i] = ansi.Truncate(l, p.width-1, "")
		b.WriteString(drawn[i])
	}
	if up := len(f.lines) - 1 - f.row; up > 0 {
		b.WriteString(ansi.CursorUp(up))
	}
	b.WriteByte('\r')
	if f.col > 0 {
		b.WriteString(ansi.CursorForward(f.col))
	}
	if !f.hide {
		b.WriteString(ansi.SetModeTextCursorEnable)
	}
	b.WriteString(ansi.ResetModeSynchronizedOutput)
	p.live, p.row, p.col = drawn, f.row, f.col
	_, err := io.WriteString(p.w, b.String())
	return err
}
