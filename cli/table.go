package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
)

// A column is a column of a table.
type column struct {
	title string
	rank  int  // if there is not enough room, columns with the lowest ranks stay
	min   int  // width that it can be cut down to; 0: never cut
	right bool // align right, for numbers
	left  bool // cut at the left end, for paths
	asked bool // shown even if it is empty
	piped int  // width that it is cut down to in a pipe; 0: never cut
	paint func(string) string
}

// never is the rank of a column that is shown only if it is picked.
const never = 1000

// A table shows as many columns as fit on the terminal.
type table struct {
	columns []column
	rows    [][]string          // cleaned, on one line each
	head    func(string) string // paints the header; nil for bold
}

// wideFlag gives c the flag --wide. Every command has it whose table may be cut.
func (f *frame) wideFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.wide, "wide", false, "show tables whole: cut nothing, and leave out no columns")
}

// table prints t on w: on a terminal as much as fits, in a pipe with long text cut,
// and whole with --wide.
func (j *job) table(w io.Writer, t *table) error {
	widths := t.natural()
	if !j.wide {
		widths = t.fit(widths, j.Terminal.columns())
	}
	head := t.head
	if head == nil {
		head = j.paint.Bold
	}
	return t.write(w, widths, head)
}

// pick leaves only the columns with these names, in this order. A name is the title
// in lower case, with - for a space. The error names what is not a column.
func (t *table) pick(names []string) error {
	var at []int
	var all []string
	for _, c := range t.columns {
		all = append(all, columnName(c))
	}
	for _, name := range names {
		i := slices.Index(all, strings.TrimSpace(name))
		if i < 0 {
			return usagef("no column %q: there are %s", name, strings.Join(all, ", "))
		}
		at = append(at, i)
	}
	old := *t
	t.columns, t.rows = nil, nil
	for rank, i := range at {
		c := old.columns[i]
		c.rank, c.asked = rank, true
		t.columns = append(t.columns, c)
	}
	for _, r := range old.rows {
		var row []string
		for _, i := range at {
			row = append(row, r[i])
		}
		t.rows = append(t.rows, row)
	}
	return nil
}

func columnName(c column) string {
	if c.title == "" {
		return "marks"
	}
	return strings.ToLower(strings.ReplaceAll(c.title, " ", "-"))
}

const gap = 2 // between two columns

// write prints t with columns as wide as widths says, the header first.
func (t *table) write(w io.Writer, widths []int, header func(string) string) error {
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

// natural returns the width of each column, 0 for one that is empty, unless it was
// asked for.
func (t *table) natural() []int {
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		for _, r := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		switch {
		case c.rank == never:
			widths[i] = 0
		case widths[i] > 0, c.asked:
			widths[i] = max(widths[i], len(c.title))
		}
	}
	return widths
}

// fit returns the widths with which t fits into room; 0 means a pipe, where only
// long text is cut. On a terminal it leaves out columns of high rank (0) until the
// others fit when cut to their minimum. Then it gives the remaining room to the
// columns that were cut, the lowest rank first.
func (t *table) fit(widths []int, room int) []int {
	if room == 0 {
		return t.piped(widths)
	}
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

func (t *table) piped(widths []int) []int {
	for i, c := range t.columns {
		if c.piped > 0 {
			widths[i] = min(widths[i], c.piped)
		}
	}
	return widths
}

func (t *table) line(b *strings.Builder, cells []string, widths []int, paint func(i int) func(string) string) {
	pad := 0
	for i, c := range t.columns {
		if widths[i] == 0 {
			continue
		}
		text := cut(cells[i], widths[i])
		if c.left {
			text = cutLeft(cells[i], widths[i])
		}
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

// cut shortens text to at most width columns, with … at the end if something was
// removed.
func cut(text string, width int) string {
	if ansi.StringWidth(text) > width {
		return ansi.Truncate(text, width, "…")
	}
	return text
}

// cutLeft shortens text to at most width columns, with … at the beginning if
// something was removed.
func cutLeft(text string, width int) string {
	if n := ansi.StringWidth(text); n > width {
		return ansi.TruncateLeft(text, n-width+1, "…")
	}
	return text
}
