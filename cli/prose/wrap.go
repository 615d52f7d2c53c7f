package prose

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// wrap lays out runs in lines of at most width columns; it breaks words that are
// longer.
func (b *blocks) wrap(runs []run, width int) (lines []string) {
	l := layout{paint: b.paint, width: width}
	for _, r := range runs {
		for i, words := range strings.Split(r.text, "\n") {
			if i > 0 {
				l.end()
			}
			l.add(words, r.style)
		}
	}
	l.end()
	return l.lines
}

// A layout breaks styled words into lines.
type layout struct {
	paint Paint
	width int
	lines []string
	line  []run // the current line
	at    int   // its width
	word  []run // a word that is not placed yet: its parts may differ in style
	wide  int   // its width
	space bool  // a space is before it
	style style // style of that space
}

func (l *layout) add(text string, s style) {
	for text != "" {
		i := strings.IndexByte(text, ' ')
		if i == 0 {
			l.place()
			l.space, l.style = true, s
			text = strings.TrimLeft(text, " ")
			continue
		}
		piece := text
		if i > 0 {
			piece = text[:i]
		}
		l.word, l.wide = append(l.word, run{piece, s}), l.wide+ansi.StringWidth(piece)
		text = text[len(piece):]
	}
}

// place puts the word on the current line, or on the next if it does not fit.
func (l *layout) place() {
	if len(l.word) == 0 {
		return
	}
	if l.at > 0 && l.at+1+l.wide > l.width {
		l.flush()
	} else if l.at > 0 && l.space {
		l.line, l.at = append(l.line, run{" ", l.style}), l.at+1
	}
	for _, r := range l.word {
		for l.wide > l.width && l.at+ansi.StringWidth(r.text) > l.width {
			head := ansi.Truncate(r.text, max(l.width-l.at, 1), "")
			if head == "" {
				break
			}
			l.line = append(l.line, run{head, r.style})
			l.flush()
			r.text = r.text[len(head):]
		}
		l.line, l.at = append(l.line, r), l.at+ansi.StringWidth(r.text)
	}
	l.word, l.wide, l.space = nil, 0, false
}

// flush ends the current line.
func (l *layout) flush() {
	var b strings.Builder
	for i := 0; i < len(l.line); {
		k, text := i, ""
		for ; k < len(l.line) && l.line[k].style == l.line[i].style; k++ {
			text += l.line[k].text
		}
		b.WriteString(l.paint.put(text, l.line[i].style))
		i = k
	}
	l.lines = append(l.lines, b.String())
	l.line, l.at = nil, 0
}

// end places the last word and ends the line.
func (l *layout) end() {
	l.place()
	l.flush()
	l.space = false
}
