package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A column of a table.
type column struct {
	title string
	rank  int  // which columns stay where there is little room: the lowest
	min   int  // columns of the terminal that it can be cut down to; 0: never cut
	right bool // numbers
	left  bool // it is cut at its left end, as paths are
	paint func(string) string
}

// A table has as many columns as the terminal has room for.
type table struct {
	columns []column
	rows    [][]string // cleaned, on one line each
}

const gap = 2 // columns of the terminal between two of a table

// write prints t in at most width columns of a terminal, the header first;
// width 0 prints everything, uncut.
func (t *table) write(w io.Writer, width int, header func(string) string) error {
	widths := t.natural()
	if width > 0 {
		widths = t.fit(widths, width)
	}
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	var b strings.Builder
	t.line(&b, titles, widths, func(int) func(string) string { return header })
	for _, r := range t.rows {
		t.line(&b, r, widths, func(i int) func(string) string { return t.columns[i].paint })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// natural returns the width of each column, 0 for one that is all empty.
func (t *table) natural() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		for _, r := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		if widths[i] > 0 {
			widths[i] = max(widths[i], len(c.title))
		}
	}
	return widths
}

// fit returns the widths at which t fits: columns of a high rank are left out
// (0) until the others fit when cut to their minimum; then what room there is
// goes to those that were cut, the lowest rank first.
func (t *table) fit(widths []int, room int) []int {
	ranked := make([]int, len(widths))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return t.columns[a].rank - t.columns[b].rank })
	fitted := make([]int, len(widths))
	for _, i := range ranked {
		if widths[i] == 0 {
			continue
		}
		need := widths[i]
		if m := t.columns[i].min; m > 0 {
			need = min(need, m)
		}
		if room < need {
			break
		}
		fitted[i] = need
		room -= need + gap
	}
	room += gap
	for _, i := range ranked {
		if fitted[i] > 0 {
			more := min(widths[i]-fitted[i], max(room, 0))
			fitted[i] += more
			room -= more
		}
	}
	return fitted
}

func (t *table) line(b *strings.Builder, cells []string, widths []int, paint func(i int) func(string) string) {
	pad := 0
	for i, c := range t.columns {
		if widths[i] == 0 {
			continue
		}
		text := cut(cells[i], widths[i], c.left)
		space := widths[i] - ansi.StringWidth(text)
		b.WriteString(strings.Repeat(" ", pad))
		pad = gap
		if c.right {
			b.WriteString(strings.Repeat(" ", space))
		} else {
			pad += space
		}
		if p := paint(i); p != nil {
			text = p(text)
		}
		b.WriteString(text)
	}
	b.WriteString("\n")
}

// cut returns text in at most width columns, with … where something went.
func cut(text string, width int, left bool) string {
	if n := ansi.StringWidth(text); n > width {
		if left {
			return ansi.TruncateLeft(text, n-width+1, "…")
		}
		return ansi.Truncate(text, width, "…")
	}
	return text
}
