package terminal

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/fault"
)

// A Column is a column of a table.
type Column struct {
	Title string
	Rank  int  // if there is not enough room, columns with the lowest ranks stay
	Min   int  // width that it can be cut down to; 0: never cut
	Right bool // align right, for numbers
	Left  bool // cut at the left end, for paths
	Whole bool // for what is said nowhere else: not cut in a pipe and, where it comes last and is not cut at the left, not on a terminal
	asked bool // shown even if it is empty
	Paint func(string) string
}

// Never is the rank of a column that is shown only if it is picked.
const Never = 1000

// A Table shows as many columns as fit on the terminal.
type Table struct {
	Columns []Column
	Rows    [][]string          // cleaned, on one line each
	Head    func(string) string // paints the header; nil for bold
}

// Pick leaves only the columns with these names, in this order. A name is the title
// in lower case, with - for a space. The error names what is not a column.
func (t *Table) Pick(names []string) error {
	var at []int
	var all []string
	for _, c := range t.Columns {
		all = append(all, columnName(c))
	}
	for _, name := range names {
		i := slices.Index(all, strings.TrimSpace(name))
		if i < 0 {
			return fault.Usage("no column %q: there are %s", name, strings.Join(all, ", "))
		}
		at = append(at, i)
	}
	old := *t
	t.Columns, t.Rows = nil, nil
	for rank, i := range at {
		c := old.Columns[i]
		c.Rank, c.asked = rank, true
		t.Columns = append(t.Columns, c)
	}
	for _, r := range old.Rows {
		var row []string
		for _, i := range at {
			row = append(row, r[i])
		}
		t.Rows = append(t.Rows, row)
	}
	return nil
}

func columnName(c Column) string {
	if c.Title == "" {
		return "marks"
	}
	return strings.ToLower(strings.ReplaceAll(c.Title, " ", "-"))
}

const gap = 2 // between two columns

// Write prints t with columns as wide as widths says, the header first.
//
// The error is that of writing to w.
func (t *Table) Write(w io.Writer, widths []int, header func(string) string) error {
	titles := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
	}
	var b strings.Builder
	t.line(&b, titles, widths, func(int) func(string) string { return header })
	for _, r := range t.Rows {
		t.line(&b, r, widths, func(i int) func(string) string { return t.Columns[i].Paint })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Natural returns the width of each column, 0 for one that is empty, unless it was
// asked for.
func (t *Table) Natural() []int {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		for _, r := range t.Rows {
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		switch {
		case c.Rank == Never:
			widths[i] = 0
		case widths[i] > 0, c.asked:
			widths[i] = max(widths[i], len(c.Title))
		}
	}
	return widths
}

// Piped is the room of a table in a pipe, in columns: people read it there too, and
// programs read JSON.
const Piped = 160

// Fit returns the widths with which t fits into room. It leaves out columns of high
// rank (0) until the others fit when cut to their minimum. Then it gives the
// remaining room to the columns that were cut, the lowest rank first. Room 0 means a
// pipe, with room for Piped columns, where it leaves out none and does not cut Whole ones.
func (t *Table) Fit(widths []int, room int) []int {
	whole := room == 0
	room = CmpOr(room, Piped)
	ranked := make([]int, len(widths))
	for i := range ranked {
		ranked[i] = i
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return t.Columns[a].Rank - t.Columns[b].Rank })
	fitted := make([]int, len(widths))
	for _, i := range ranked {
		if widths[i] == 0 {
			continue
		}
		need := widths[i]
		if c := t.Columns[i]; c.Min > 0 && !(whole && c.Whole) {
			need = min(need, c.Min)
		}
		if room < need && !whole {
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

func (t *Table) line(b *strings.Builder, cells []string, widths []int, paint func(i int) func(string) string) {
	pad, left := 0, 0
	last := len(widths) - 1
	for last > 0 && widths[last] == 0 {
		last--
	}
	for i, c := range t.Columns {
		if widths[i] == 0 {
			continue
		}
		b.WriteString(strings.Repeat(" ", pad))
		for n, text := range c.lines(cells[i], widths[i], i == last) {
			if n > 0 {
				b.WriteString("\n" + strings.Repeat(" ", left))
			}
			space := widths[i] - ansi.StringWidth(text)
			pad = gap
			if c.Right {
				b.WriteString(strings.Repeat(" ", space))
			} else {
				pad += space
			}
			if p := paint(i); p != nil {
				text = p(text)
			}
			b.WriteString(text)
		}
		left += widths[i] + gap
	}
	b.WriteString("\n")
}

// lines returns the lines of a cell: one that is cut, unless the column is whole and the
// last one that is shown.
func (c *Column) lines(cell string, width int, last bool) []string {
	switch {
	case c.Left:
		return []string{CutLeft(cell, width)}
	case c.Whole && last:
		return strings.Split(ansi.Wrap(cell, width, ""), "\n")
	}
	return []string{Cut(cell, width)}
}

// Cut shortens text to at most width columns, with … at the end if something was
// removed.
func Cut(text string, width int) string {
	if ansi.StringWidth(text) > width {
		return ansi.Truncate(text, width, "…")
	}
	return text
}

// CutLeft shortens text to at most width columns, with … at the beginning if
// something was removed.
func CutLeft(text string, width int) string {
	if n := ansi.StringWidth(text); n > width {
		return ansi.TruncateLeft(text, n-width+1, "…")
	}
	return text
}
