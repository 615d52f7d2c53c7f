package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help prints how c is used, on stdout, as wide as the terminal.
func (f *frame) help(c *cobra.Command) {
	p, err := newPaint(f.env, "auto")
	if f.color != "" && err == nil {
		p, _ = newPaint(f.env, f.color)
	}
	h := helpText{p, min(cmpOr(f.env.Terminal.Width, 80), 100)}
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
	paint paint
	width int // columns
}

func (h helpText) of(c *cobra.Command) string {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	var b strings.Builder
	b.WriteString(h.wrap(strings.TrimSpace(about), 0) + "\n")
	h.section(&b, "usage", "  "+h.paint.bold(c.CommandPath())+strings.TrimPrefix(useLine(c), c.CommandPath())+"\n")
	if c.Example != "" {
		h.section(&b, "examples", strings.TrimRight(strings.ReplaceAll("  "+c.Example, "\n\t", "\n  "), "\n\t ")+"\n")
	}
	for _, g := range c.Groups() {
		h.section(&b, g.Title, h.commands(c, g.ID))
	}
	h.section(&b, "flags", h.flags(c.LocalNonPersistentFlags()))
	if c.HasParent() {
		h.section(&b, "global flags", h.flags(c.InheritedFlags()))
	} else {
		h.section(&b, "flags", h.flags(c.PersistentFlags()))
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
		b.WriteString("\n" + h.paint.bold(strings.ToUpper(title)) + "\n" + text)
	}
}

func (h helpText) commands(c *cobra.Command, group string) string {
	var rows [][2]string
	for _, sub := range c.Commands() {
		if sub.GroupID == group && sub.IsAvailableCommand() {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	return h.rows(rows)
}

func (h helpText) flags(set *pflag.FlagSet) string {
	var rows [][2]string
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, doc := pflag.UnquoteUsage(f)
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		if value != "" {
			name += " " + strings.ToUpper(value)
		}
		switch f.DefValue {
		case "", "0", "false", "[]":
		default:
			doc += " (" + f.DefValue + ")"
		}
		rows = append(rows, [2]string{name, doc})
	})
	return h.rows(rows)
}

// rows lays out names and what they mean in two columns, or one below the
// other where there is no room.
func (h helpText) rows(rows [][2]string) string {
	left := 0
	for _, r := range rows {
		left = max(left, ansi.StringWidth(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		if h.width < left+24 {
			b.WriteString("  " + h.paint.cyan(r[0]) + "\n" + h.wrap(r[1], 6) + "\n")
			continue
		}
		text := strings.TrimLeft(h.wrap(r[1], left+4), " ")
		b.WriteString("  " + h.paint.cyan(r[0]) + strings.Repeat(" ", left+2-ansi.StringWidth(r[0])) + text + "\n")
	}
	return b.String()
}

// wrap breaks text into lines of the width, each indented.
func (h helpText) wrap(text string, indent int) string {
	pad := strings.Repeat(" ", indent)
	wrapped := ansi.Wordwrap(text, max(h.width-indent-1, 16), "")
	return pad + strings.ReplaceAll(wrapped, "\n", "\n"+pad)
}
