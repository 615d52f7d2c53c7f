package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A manual is a page in the language of man(7).
type manual struct{ strings.Builder }

// write writes the page of root and its commands.
func (m *manual) write(root *cobra.Command, version string) {
	m.request(`.TH SKEIN 1 "" "skein %s" ""`, roff(version))
	m.request(".SH NAME")
	m.text("skein - " + root.Short)
	m.request(".SH SYNOPSIS")
	m.request(`.B skein`)
	m.text("[command] [flags]")
	m.request(".SH DESCRIPTION")
	m.prose(root.Long)
	m.request(".SH COMMANDS")
	for _, c := range inOrder(root) {
		if c.IsAvailableCommand() {
			m.command(c)
			for _, sub := range inOrder(c) {
				m.command(sub)
			}
		}
	}
	m.request(".SH GLOBAL FLAGS")
	m.flags(root.PersistentFlags())
	m.request(".SH EXIT STATUS")
	for _, row := range [][2]string{
		{"0", "done"},
		{"1", "failed"},
		{"2", "the command line was wrong, or the name ambiguous"},
		{"3", "not found"},
		{"4", "locked by another program"},
		{"130", "interrupted"},
	} {
		m.item(row[0], row[1])
	}
	m.request(".SH ENVIRONMENT")
	for _, s := range known() {
		for _, name := range s.env {
			m.item(name, s.doc)
		}
	}
	m.item("SKEIN_HOME", "one folder for the data, the state, the cache and the configuration")
	m.item("NO_COLOR", "if set, no colours")
}

func (m *manual) command(c *cobra.Command) {
	m.request(".SS %s", roff(useLine(c)))
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	m.prose(about)
	c.LocalNonPersistentFlags().SortFlags = false
	m.flags(c.LocalNonPersistentFlags())
	if c.Example != "" {
		m.request(".PP")
		m.text("For example:")
		m.verbatim(strings.Split(strings.ReplaceAll(c.Example, "\t", ""), "\n"))
	}
}

// prose writes paragraphs; indented lines are kept as they are.
func (m *manual) prose(text string) {
	var block []string
	flush := func() {
		if len(block) > 0 {
			m.verbatim(block)
		}
		block = nil
	}
	for line := range strings.SplitSeq(reflow(text), "\n") {
		switch {
		case strings.HasPrefix(line, " "):
			block = append(block, strings.TrimPrefix(line, "  "))
		case line != "":
			flush()
			m.request(".PP")
			m.text(line)
		}
	}
	flush()
}

func (m *manual) verbatim(lines []string) {
	m.request(".RS 4")
	m.request(".nf")
	for _, l := range lines {
		m.text(l)
	}
	m.request(".fi")
	m.request(".RE")
}

func (m *manual) flags(set *pflag.FlagSet) {
	set.VisitAll(func(f *pflag.Flag) {
		name, about := flagHelp(f)
		m.item(strings.TrimSpace(name), about)
	})
}

func (m *manual) item(name, about string) {
	m.request(".TP")
	m.request(`\fB%s\fP`, roff(name))
	m.text(about)
}

func (m *manual) request(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// text writes a line so that it cannot begin with a request.
func (m *manual) text(line string) {
	line = roff(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	m.WriteString(line + "\n")
}

// roff escapes the characters that are special to roff.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "`", "\\(ga").Replace(s)
}
