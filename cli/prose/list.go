package prose

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// list returns the lines of a list, its items indented by their bullets or numbers.
func (b *blocks) list(l *ast.List, width int) (lines []string) {
	n := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d. ", n)
			n++
		}
		if len(lines) > 0 && !l.IsTight {
			lines = append(lines, "")
		}
		w := ansi.StringWidth(mark)
		of := b.of(item, width-w)
		if len(of) == 0 {
			of = []string{""}
		}
		lines = append(lines, lead(mark, strings.Repeat(" ", w), of)...)
	}
	return lines
}

// tableOf returns n as a table, if it is one.
func tableOf(n ast.Node) (*east.Table, bool) {
	t, ok := n.(*east.Table)
	return t, ok
}

// gap is the number of columns between two columns of a table.
const gap = 2

// table returns a table with aligned columns; if they do not fit, each row's cells
// one below the other.
func (b *blocks) table(t *east.Table, width int) []string {
	var rows [][]string
	var widths []int
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		var cells []string
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			style := style(0)
			if len(rows) == 0 {
				style = strong
			}
			cells = append(cells, strings.Join(b.wrap(b.inline(c, style), 1<<20), " "))
			if i := len(cells) - 1; i == len(widths) {
				widths = append(widths, 0)
			}
			i := len(cells) - 1
			widths[i] = max(widths[i], ansi.StringWidth(cells[i]))
		}
		rows = append(rows, cells)
	}
	room := gap * (len(widths) - 1)
	for _, w := range widths {
		room += w
	}
	if room > width {
		return b.stacked(rows, width)
	}
	return aligned(rows, widths)
}

func aligned(rows [][]string, widths []int) (lines []string) {
	for _, cells := range rows {
		var line strings.Builder
		for i, c := range cells {
			line.WriteString(c + strings.Repeat(" ", widths[i]-ansi.StringWidth(c)+gap))
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}

// stacked returns each row after the first as lines of header and cell.
func (b *blocks) stacked(rows [][]string, width int) (lines []string) {
	for i, cells := range rows[1:] {
		if i > 0 {
			lines = append(lines, "")
		}
		for k, c := range cells {
			head := ""
			if k < len(rows[0]) {
				head = rows[0][k] + ": "
			}
			lines = append(lines, lead("", "  ", strings.Split(ansi.Wrap(head+c, width-2, ""), "\n"))...)
		}
	}
	return lines
}
