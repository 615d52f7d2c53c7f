package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

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
