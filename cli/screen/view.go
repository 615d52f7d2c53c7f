package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/render"
)

// prompt is shown before what a person types, and before what they said.
const prompt = "❯ "

// visible returns typed text as it may be shown, with the same number of
// characters.
func visible(text string) string { return render.Clean(text) }

// frame returns the last lines of the screen.
func (t *Terminal) frame() (f redraw) {
	var below []string // what is below the answer that is arriving
	if t.stop != nil && t.asked == nil {
		below = append(below, t.working()...)
	}
	f.hide = true
	switch {
	case t.asked != nil:
		below = append(below, t.asked.lines(t.o.Paint, t.paint.width)...)
		f.row, f.col, f.hide = len(below)-1, min(ansi.StringWidth(below[len(below)-1])+1, t.paint.width-1), false
	case t.reading || t.edit.text != "" || len(t.said) > 0:
		for _, s := range t.said {
			below = append(below, t.o.Paint.Dim(prompt+render.Line(s)))
		}
		rows, row, col := t.editor()
		f.row, f.col, f.hide = len(below)+row, col, false
		below = append(below, rows...)
		below = append(below, t.list.lines(t.o.Paint, t.paint.width)...)
	case len(below) > 0:
		f.row = len(below) - 1
	}
	if t.notice != "" {
		below = append(below, t.o.Paint.Dim(ansi.Truncate(render.Line(t.notice), t.paint.width-1, "…")))
	}
	above := t.coming(t.height - 1 - len(below))
	f.lines, f.row = append(above, below...), f.row+len(above)
	if f.hide {
		f.row, f.col = max(len(f.lines)-1, 0), 0
	}
	if over := len(f.lines) - t.height; over > 0 { // the terminal has few lines
		f.lines, f.row = f.lines[over:], max(f.row-over, 0)
	}
	return f
}

// working returns the status line and the newest line of output.
func (t *Terminal) working() []string {
	p, waited := t.o.Paint, t.o.Now().Sub(t.since)
	about := []string{duration(waited)}
	if t.work.Tokens > 0 {
		about = append(about, count(t.work.Tokens)+" tokens")
	}
	tail := " · " + strings.Join(append(about, "Ctrl-C stops"), " · ")
	doing := t.work.Doing
	if doing == "" {
		doing = "working"
	}
	room := t.paint.width - 4 - ansi.StringWidth(tail)
	if room < 8 {
		tail, room = " · "+about[0], t.paint.width-4-ansi.StringWidth(about[0])-3
	}
	lines := []string{p.Cyan(spinner(waited)) + " " + ansi.Truncate(doing, max(room, 4), "…") + p.Dim(tail)}
	if t.work.Detail != "" {
		lines = append(lines, p.Dim("  "+ansi.Truncate(t.work.Detail, t.paint.width-4, "…")))
	}
	return lines
}

// spinner returns the sign that a spinner shows after d.
func spinner(d time.Duration) string {
	signs := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	return string(signs[int(max(d, 0)/(100*time.Millisecond))%len(signs)])
}

// duration formats d in whole seconds, for people.
func duration(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%ds", s)
	}
	return fmt.Sprintf("%dm%02ds", s/60, s%60)
}

// count formats n with few digits.
func count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%dk", n/1000)
}

// editor returns the rows of the text being typed, and the position of the cursor.
func (t *Terminal) editor() (rows []string, row, col int) {
	sign, text := prompt, &t.edit
	if t.search != nil {
		sign, text = "search: ", &editor{text: t.search.part, at: len(t.search.part)}
	}
	lead := ansi.StringWidth(sign)
	shown := editor{text: visible(text.text), at: len(visible(text.text[:text.at]))}
	rows, row, col = shown.rows(t.paint.width - lead - 1)
	rows, row = part(rows, row, max(t.height/2, 2))
	p := t.o.Paint
	for i := range rows {
		if i == 0 {
			rows[i] = p.Bold(p.Green(sign)) + rows[i]
		} else {
			rows[i] = strings.Repeat(" ", lead) + rows[i]
		}
	}
	if t.search != nil {
		for l := range strings.SplitSeq(visible(t.edit.text), "\n") {
			rows = append(rows, p.Dim("  "+l))
		}
	}
	return rows, row, col + lead
}
