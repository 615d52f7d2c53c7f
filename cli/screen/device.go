package screen

import (
	"io"
	"strings"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/prose"
)

// device is what a terminal shows: text that scrolls away, below it the last lines,
// which are drawn again and again.
type device struct {
	o       Options
	console uv.Console
	wake    chan struct{} // signals Read and Ask that there is something to return

	mu      sync.Mutex // guards all but o, console and wake
	paint   painter
	height  int
	err     error         // from the terminal
	last    func() redraw // the last lines
	stream  *prose.Stream
	grabbed chan byte // receives the keys; nil if Keys is not in use
}

// write writes to the terminal. It keeps an error for Read.
func (t *device) write(s string) {
	if _, err := t.console.Write([]byte(s)); err != nil && t.err == nil {
		t.err = err
	}
}

// show prints text, line feeds included, and redraws the last lines.
func (t *device) show(text string) {
	t.fit()
	if err := t.paint.draw(text, t.last()); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *device) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *device) nudge() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// clear clears the terminal but not the scrollback.
func (t *device) clear() {
	t.write(strings.Repeat("\r\n", t.height) + ansi.EraseEntireScreen + ansi.CursorHomePosition)
	t.paint.live, t.paint.row, t.paint.col = nil, 0, 0
}

// Width returns the width of the terminal in columns.
func (t *device) Width() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.paint.width
}

// measure redraws after the terminal has reported a new size.
func (t *device) measure() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show("")
}

// fit adopts the terminal's size. The size may change before the terminal reports
// it, and lines drawn for the old size would leave remains.
func (t *device) fit() {
	if t.console == nil {
		return
	}
	width, height, err := t.console.GetSize()
	if err != nil || width == t.paint.width && height == t.height {
		return // keep the old size
	}
	t.resize(width, height)
}

func (t *device) resize(width, height int) {
	t.paint.width, t.height = max(width, 8), max(height, 4)
	if t.stream != nil {
		t.stream.Use(t.markdown())
	}
}

func (t *device) markdown() *prose.Markdown {
	return prose.New(t.o.Paint, t.paint.width-1)
}

// Print implements [Screen]. While an answer arrives, text is printed above the
// lines that may still change.
func (t *device) Print(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(strings.TrimRight(text, "\n") + "\n")
}

// Note implements [Screen].
func (t *device) Note(text string) { t.Print(text) }

// Say implements [Screen].
func (t *device) Say(piece string) {
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
func (t *device) Said() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
	t.show("")
}

// flush prints the rest of an answer.
func (t *device) flush() {
	if t.stream == nil {
		return
	}
	lines := t.stream.End()
	t.stream = nil
	if len(lines) > 0 {
		t.show(strings.Join(lines, "\n") + "\n")
	}
}

// coming returns the lines of an answer that may still change, only the last if
// there is little room, and a blank line.
func (t *device) coming(room int) []string {
	if t.stream == nil || room < 2 {
		return nil
	}
	lines := t.stream.Open()
	if len(lines) == 0 {
		return nil
	}
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, "\t", "    ")
	}
	return append(lines[max(len(lines)-room+1, 0):], "")
}

// echo formats what a person has said for the scrollback.
func (t *device) echo(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.Split(visible(text), "\n")
	for i, l := range lines {
		if i == 0 {
			lines[i] = t.o.Paint.Bold(t.o.Paint.Green(prompt)) + l
		} else {
			lines[i] = strings.Repeat(" ", len([]rune(prompt))) + l
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// Keys gives the caller all keys pressed until release is called: the bytes of
// their text, and 3 for Ctrl-C. Keys are dropped if nobody receives them in time.
func (t *device) Keys() (keys <-chan byte, release func()) {
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
func (t *device) hand(key uv.Key, name string) {
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

// A painter redraws the last lines of a terminal, and prints text above them.
type painter struct {
	w     io.Writer
	width int
	live  []string // lines drawn
	row   int      // row of the cursor among them
	col   int      // column of the cursor
}

// A redraw is the new content of the last lines.
type redraw struct {
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
func (p *painter) draw(text string, f redraw) error {
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
