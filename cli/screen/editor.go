package screen

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// An editor is the text that a person is typing, and the position of the cursor.
// Its zero value is empty.
type editor struct {
	text string
	at   int    // byte offset of the cursor, at the edge of a character
	cut  string // last text cut, for yank
}

// set sets the text, with the cursor at its end.
func (e *editor) set(text string) { e.text, e.at = text, len(text) }

// insert inserts s at the cursor.
func (e *editor) insert(s string) {
	e.text = e.text[:e.at] + s + e.text[e.at:]
	e.at += len(s)
}

// replace replaces the text from byte from to the cursor with s.
func (e *editor) replace(from int, s string) {
	e.text = e.text[:from] + s + e.text[e.at:]
	e.at = from + len(s)
}

// next returns where the character at byte i ends. A letter with its accents, or an
// emoji of several parts, is one character.
func (e *editor) next(i int) int {
	if i >= len(e.text) {
		return i
	}
	c, _ := ansi.FirstGraphemeCluster(e.text[i:], ansi.GraphemeWidth)
	return i + max(len(c), 1)
}

// before returns where the character that ends at byte i begins.
func (e *editor) before(i int) int {
	at := 0
	if n := strings.LastIndexByte(e.text[:max(i-1, 0)], '\n'); n >= 0 {
		at = n + 1
	}
	for at < i {
		next := e.next(at)
		if next >= i {
			return at
		}
		at = next
	}
	return max(at, 0)
}

func (e *editor) left() { e.at = e.before(e.at) }

func (e *editor) right() { e.at = e.next(e.at) }

// lineStart returns where the line of byte i begins, lineEnd where it ends.
func (e *editor) lineStart(i int) int { return strings.LastIndexByte(e.text[:i], '\n') + 1 }

func (e *editor) lineEnd(i int) int {
	if n := strings.IndexByte(e.text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(e.text)
}

// wordLeft returns where the word before the cursor begins, wordRight where the one
// after it ends.
func (e *editor) wordLeft() int {
	i := e.at
	for i > 0 && !wordAt(e.text[e.before(i):]) {
		i = e.before(i)
	}
	for i > 0 && wordAt(e.text[e.before(i):]) {
		i = e.before(i)
	}
	return i
}

func (e *editor) wordRight() int {
	i := e.at
	for i < len(e.text) && !wordAt(e.text[i:]) {
		i = e.next(i)
	}
	for i < len(e.text) && wordAt(e.text[i:]) {
		i = e.next(i)
	}
	return i
}

func wordAt(s string) bool {
	for _, r := range s {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_'
	}
	return false
}

// remove removes the text between bytes from and to.
func (e *editor) remove(from, to int) {
	e.text, e.at = e.text[:from]+e.text[to:], from
}

// kill is remove, but keeps the text for yank.
func (e *editor) kill(from, to int) {
	if from < to {
		e.cut = e.text[from:to]
		e.remove(from, to)
	}
}

// up moves the cursor a line up, in the same column, and reports whether there is
// such a line; down moves it down.
func (e *editor) up() bool {
	start := e.lineStart(e.at)
	if start == 0 {
		return false
	}
	e.at = e.column(e.lineStart(start-1), start-1, ansi.StringWidth(e.text[start:e.at]))
	return true
}

func (e *editor) down() bool {
	start, end := e.lineStart(e.at), e.lineEnd(e.at)
	if end == len(e.text) {
		return false
	}
	e.at = e.column(end+1, e.lineEnd(end+1), ansi.StringWidth(e.text[start:e.at]))
	return true
}

// column returns the byte offset of column col in the line from start to end, or
// the line's end.
func (e *editor) column(start, end, col int) int {
	i := start
	for i < end && ansi.StringWidth(e.text[start:i]) < col {
		i = e.next(i)
	}
	return min(i, end)
}

// rows lays the text out in rows of at most width columns and returns the row and
// column of the cursor. A tab is shown as four spaces.
func (e *editor) rows(width int) (rows []string, row, col int) {
	width = max(width, 2)
	var line strings.Builder
	wide := 0
	flush := func() {
		rows = append(rows, line.String())
		line.Reset()
		wide = 0
	}
	for i := 0; i < len(e.text); {
		n := e.next(i)
		c := e.text[i:n]
		shown := strings.ReplaceAll(c, "\t", "    ")
		if c == "\n" {
			shown = ""
		}
		w := ansi.StringWidth(shown)
		if wide+w > width {
			flush()
		}
		if i == e.at {
			row, col = len(rows), wide
		}
		line.WriteString(shown)
		wide += w
		if c == "\n" {
			flush()
		}
		i = n
	}
	if e.at == len(e.text) {
		if wide >= width {
			flush()
		}
		row, col = len(rows), wide
	}
	flush()
	return rows, row, col
}

// part returns at most high of rows, those around row, and the index of row among
// them.
func part(rows []string, row, high int) ([]string, int) {
	if len(rows) <= high {
		return rows, row
	}
	first := min(max(row-high/2, 0), len(rows)-high)
	return rows[first : first+high], row - first
}
