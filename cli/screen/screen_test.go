package screen

import (
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// A fakeScreen is a terminal of one width that never scrolls, and interprets what a
// painter writes.
type fakeScreen struct {
	width    int
	lines    []string
	row, col int
}

func newScreen(width int) *fakeScreen { return &fakeScreen{width: width, lines: []string{""}} }

func (s *fakeScreen) write(text string) {
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= 0x40 && r <= 0x7e }) + 2
			s.obey(text[2:end], text[end])
			text = text[end+1:]
		case text[0] == '\r':
			s.col, text = 0, text[1:]
		case text[0] == '\n':
			s.down()
			text = text[1:]
		default:
			c, w := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			if s.col+w > s.width {
				s.col = 0
				s.down()
			}
			s.put(c, w)
			text = text[len(c):]
		}
	}
}

func (s *fakeScreen) down() {
	if s.row++; s.row == len(s.lines) {
		s.lines = append(s.lines, "")
	}
}

func (s *fakeScreen) put(c string, w int) {
	l := s.lines[s.row]
	l += strings.Repeat(" ", max(s.col-ansi.StringWidth(l), 0))
	s.lines[s.row] = ansi.Truncate(l, s.col, "") + c + ansi.Cut(l, s.col+w, 1<<20)
	s.col += w
}

func (s *fakeScreen) obey(args string, what byte) {
	n, err := strconv.Atoi(args)
	if err != nil {
		n = 1
	}
	switch what {
	case 'A':
		s.row -= n
	case 'C':
		s.col += n
	case 'J':
		s.lines[s.row] = ansi.Truncate(s.lines[s.row], s.col, "")
		s.lines = s.lines[:s.row+1]
	}
}

// reflow wraps the lines again, as a terminal does that becomes narrower.
func (s *fakeScreen) reflow(width int) {
	var lines []string
	row, col := 0, s.col
	for i, l := range s.lines {
		if i == s.row {
			row, col = len(lines)+s.col/width, s.col%width
		}
		lines = append(lines, strings.Split(ansi.Hardwrap(l, width, true), "\n")...)
	}
	s.width, s.lines, s.row, s.col = width, lines, row, col
}

func (s *fakeScreen) String() string { return strings.Join(s.lines, "\n") }

func TestTheLastLinesAreDrawnAnewAndNothingElse(t *testing.T) {
	s := newScreen(20)
	p := painter{w: writer{s}, width: 20}
	for i, step := range []struct {
		print string
		frame redraw
		want  string
	}{
		{"hello\n", redraw{lines: []string{"> "}, col: 2}, "hello\n> "},
		{"", redraw{lines: []string{"> a", "  b"}, row: 1, col: 3}, "hello\n> a\n  b"},
		{"", redraw{lines: []string{"> a", "  b"}, row: 0, col: 3}, "hello\n> a\n  b"},
		{"a line that is longer than the screen\n", redraw{lines: []string{"> 東京"}, col: 6}, "hello\na line that is longe\nr than the screen\n> 東京"},
		{"", redraw{}, "hello\na line that is longe\nr than the screen\n"},
		{"end\n", redraw{lines: []string{"cut off at the right edge"}, col: 0}, "hello\na line that is longe\nr than the screen\nend\ncut off at the righ"},
	} {
		if err := p.draw(step.print, step.frame); err != nil {
			t.Fatal(err)
		}
		if got := s.String(); got != step.want {
			t.Errorf("step %d: the screen is\n%s\nwant\n%s", i, got, step.want)
		}
		if step.frame.lines != nil && s.col != step.frame.col {
			t.Errorf("step %d: the cursor is in column %d, want %d", i, s.col, step.frame.col)
		}
	}
}

func TestANarrowerTerminalLeavesNoLitter(t *testing.T) {
	s := newScreen(40)
	p := painter{w: writer{s}, width: 40}
	f := redraw{lines: []string{"a line of thirty-two characters.", "> typing on a second line", "a third one here"}, row: 1, col: 25}
	if err := p.draw("above\n", f); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{30, 20, 12} {
		s.reflow(width)
		p.width = width
		if err := p.draw("", f); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(s.String(), "\n")
		if len(got) != 4 || got[0] != "above" {
			t.Fatalf("at %d columns the screen is\n%s\nwant what was above, and the three lines", width, s)
		}
	}
}

type writer struct{ s *fakeScreen }

func (w writer) Write(b []byte) (int, error) {
	w.s.write(string(b))
	return len(b), nil
}
