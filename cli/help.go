package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/skein-dev/skein/cli/prose"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help prints the help of c on stdout, as wide as the terminal.
func (f *frame) help(c *cobra.Command) {
	p, err := newPaint(f.env, "auto")
	if f.color != "" && err == nil {
		p, _ = newPaint(f.env, f.color)
	}
	h := helpText{p, min(cmpOr(f.env.Terminal.columns(), 80), 100)}
	fmt.Fprint(f.env.Stdout, h.of(c))
}

func cmpOr(n, other int) int {
	if n > 0 {
		return n
	}
	return other
}

// A helpText lays out help.
type helpText struct {
	paint prose.Paint
	width int // columns
}

func (h helpText) of(c *cobra.Command) string {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	var b strings.Builder
	b.WriteString(h.wrap(reflow(about), 0) + "\n")
	h.section(&b, "usage", h.wrap(useLine(c), 2)+"\n")
	if c.Example != "" {
		h.section(&b, "examples", h.wrap("  "+strings.ReplaceAll(c.Example, "\t", "  "), 0)+"\n")
	}
	for _, g := range c.Groups() {
		h.section(&b, g.Title, h.commands(c, g.ID))
	}
	own, global := c.LocalNonPersistentFlags(), c.Root().PersistentFlags()
	h.section(&b, "flags", h.flags(c.Flags(), func(f *pflag.Flag) bool { return own.Lookup(f.Name) != nil }))
	h.section(&b, "global flags", h.flags(global, func(*pflag.Flag) bool { return true }))
	return b.String()
}

// reflow joins the lines of each paragraph of text; indented lines stay.
func reflow(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var b strings.Builder
	for i, line := range lines {
		loose := func(s string) bool { return s != "" && s[0] != ' ' }
		switch {
		case i == 0:
		case loose(line) && loose(lines[i-1]):
			b.WriteString(" ")
		default:
			b.WriteString("\n")
		}
		b.WriteString(line)
	}
	return b.String()
}

func useLine(c *cobra.Command) string {
	if c.HasParent() {
		return c.Parent().CommandPath() + " " + c.Use
	}
	return c.Use
}

func (h helpText) section(b *strings.Builder, title, text string) {
	if text != "" {
		b.WriteString("\n" + h.paint.Bold(strings.ToUpper(title)) + "\n" + text)
	}
}

func (h helpText) commands(c *cobra.Command, group string) string {
	var rows [][2]string
	for _, sub := range inOrder(c) {
		if sub.GroupID == group && sub.IsAvailableCommand() {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	return h.rows(rows)
}

// flags returns the help of those flags in set that pass accepts, in their own
// order.
func (h helpText) flags(set *pflag.FlagSet, pass func(*pflag.Flag) bool) string {
	var rows [][2]string
	set.SortFlags = false
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !pass(f) {
			return
		}
		name, doc := flagHelp(f)
		rows = append(rows, [2]string{name, doc})
	})
	return h.rows(rows)
}

// flagHelp returns the syntax of f and its description.
func flagHelp(f *pflag.Flag) (name, doc string) {
	value, doc := pflag.UnquoteUsage(f)
	name = "    --" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		name += " " + strings.ToUpper(value)
	}
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
	default:
		doc += " (" + f.DefValue + ")"
	}
	return name, doc
}

// rows lays out names and descriptions in two columns, or one below the other if
// there is not enough room.
func (h helpText) rows(rows [][2]string) string {
	left := 0
	for _, r := range rows {
		left = max(left, ansi.StringWidth(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		if h.width < left+24 {
			b.WriteString("  " + h.paint.Cyan(r[0]) + "\n" + h.wrap(r[1], 6) + "\n")
			continue
		}
		text := strings.TrimLeft(h.wrap(r[1], left+4), " ")
		b.WriteString("  " + h.paint.Cyan(r[0]) + strings.Repeat(" ", left+2-ansi.StringWidth(r[0])) + text + "\n")
	}
	return b.String()
}

// wrap breaks text into lines of the width, each indented; the continuation of an
// indented line is indented further.
func (h helpText) wrap(text string, indent int) string {
	room := max(h.width-indent-1, 16)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if ansi.StringWidth(line) <= room {
			lines = append(lines, line)
			continue
		}
		if at := strings.LastIndex(line, "  "); at > len(lead) && longest(line[at:]) <= room-at-2 {
			lead = strings.Repeat(" ", at+2) // the second column of two
			lines = append(lines, line[:at+2]+fill(line[at+2:], room-at-2, lead))
			continue
		}
		lines = append(lines, lead+fill(line, room-len(lead), lead+strings.Repeat(" ", min(len(lead), 2))))
	}
	pad := strings.Repeat(" ", indent)
	return pad + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n"+pad)
}

// longest returns the width of the longest word of text.
func longest(text string) (n int) {
	for _, word := range strings.Fields(text) {
		n = max(n, ansi.StringWidth(word))
	}
	return n
}

// fill breaks text into lines of room columns; lead goes before every line but the
// first.
func fill(text string, room int, lead string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := ansi.StringWidth(word)
		switch {
		case i == 0:
		case at+1+n > room:
			b.WriteString("\n" + lead)
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
