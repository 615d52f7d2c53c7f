package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/setup"
	"github.com/skein-dev/skein/cli/terminal"
)

// help prints the help of c on stdout, as wide as the terminal.
func help(f *job.Frame, c *cobra.Command) {
	p, err := job.NewPaint(f.Env, "auto")
	if f.Color != "" && err == nil {
		p, _ = job.NewPaint(f.Env, f.Color)
	}
	h := terminal.HelpText{Paint: p, Width: min(terminal.CmpOr(f.Env.Terminal.Columns(), 80), 100)}
	fmt.Fprint(f.Env.Stdout, of(h, c))
}

func of(h terminal.HelpText, c *cobra.Command) string {
	about := c.Long
	if about == "" {
		about = c.Short + "."
	}
	var b strings.Builder
	b.WriteString(h.Wrap(terminal.Reflow(about), 0) + "\n")
	section(h, &b, "usage", h.Wrap(useLine(c), 2)+"\n")
	if c.Example != "" {
		section(h, &b, "examples", h.Wrap("  "+strings.ReplaceAll(c.Example, "\t", "  "), 0)+"\n")
	}
	for _, g := range c.Groups() {
		section(h, &b, g.Title, commands(h, c, g.ID))
	}
	section(h, &b, "commands", commands(h, c, ""))
	own, global := c.LocalNonPersistentFlags(), c.Root().PersistentFlags()
	section(h, &b, "flags", flags(h, c.Flags(), func(f *pflag.Flag) bool { return own.Lookup(f.Name) != nil }))
	section(h, &b, "global flags", flags(h, global, func(*pflag.Flag) bool { return true }))
	return b.String()
}

func useLine(c *cobra.Command) string {
	if c.HasParent() {
		return c.Parent().CommandPath() + " " + c.Use
	}
	return c.Use
}

func section(h terminal.HelpText, b *strings.Builder, title, text string) {
	if text != "" {
		b.WriteString("\n" + h.Paint.Bold(strings.ToUpper(title)) + "\n" + text)
	}
}

func commands(h terminal.HelpText, c *cobra.Command, group string) string {
	var rows [][2]string
	for _, sub := range inOrder(c) {
		if sub.GroupID == group && sub.IsAvailableCommand() {
			rows = append(rows, [2]string{sub.Name(), sub.Short})
		}
	}
	return h.Rows(rows)
}

// flags returns the help of those flags in set that pass accepts, in their own
// order.
func flags(h terminal.HelpText, set *pflag.FlagSet, pass func(*pflag.Flag) bool) string {
	var rows [][2]string
	set.SortFlags = false
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !pass(f) {
			return
		}
		name, doc := flagHelp(f)
		rows = append(rows, [2]string{name, doc})
	})
	return h.Rows(rows)
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

// A manual is a page in the language of man(7).
type manual struct{ strings.Builder }

func manualOf(root *cobra.Command, version string) string {
	var m manual
	m.write(root, version)
	return m.String()
}

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
	for _, s := range config.Known() {
		for _, name := range s.Env {
			m.item(name, s.Doc)
		}
	}
	m.item("SKEIN_HOME", "one folder for the data, the state, the cache and the configuration")
	m.item("NO_COLOR", "if set, no colors")
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
	for line := range strings.SplitSeq(terminal.Reflow(text), "\n") {
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

func newSetup(f *job.Frame) *cobra.Command {
	return setup.NewSetup(f, func(root *cobra.Command) string { return manualOf(root, f.Env.Version) })
}

func newMan(f *job.Frame) *cobra.Command {
	c := &cobra.Command{
		Use:     "man",
		Short:   "print the manual page",
		Long:    "Print the manual page in the format that man reads.",
		Example: `skein man | man -l -`,
		Args:    job.Words(0, 0, ""),
	}
	c.RunE = f.Bare(func(_ context.Context, j *job.Job, _ []string) error {
		_, err := io.WriteString(j.Stdout, manualOf(c.Root(), j.Version))
		return err
	})
	return c
}

func newCompletion(f *job.Frame) *cobra.Command {
	c := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a shell completion script",
		Long: `Print a script with which a shell completes commands, flags, and the IDs and
titles of sessions.

  bash         source <(skein completion bash)      in ~/.bashrc
  zsh          source <(skein completion zsh)       in ~/.zshrc, after compinit
  fish         skein completion fish | source       in config.fish
  powershell   skein completion powershell | Out-String | Invoke-Expression`,
		Args:      job.Words(1, 1, "the name of a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
	}
	c.RunE = f.Bare(func(_ context.Context, j *job.Job, args []string) error {
		switch args[0] {
		case "bash":
			return c.Root().GenBashCompletionV2(j.Stdout, true)
		case "zsh":
			return c.Root().GenZshCompletion(j.Stdout)
		case "fish":
			return c.Root().GenFishCompletion(j.Stdout, true)
		case "powershell", "pwsh":
			return c.Root().GenPowerShellCompletionWithDesc(j.Stdout)
		}
		return fault.Usage("no completion for %q: want bash, zsh, fish or powershell", args[0])
	})
	return c
}

type versionOptions struct{ json bool }

func newVersion(f *job.Frame) *cobra.Command {
	var o versionOptions
	c := &cobra.Command{
		Use:   "version",
		Short: "print skein's version",
		Args:  job.Words(0, 0, ""),
		RunE:  f.Bare(o.run),
	}
	job.JSONFlag(c, &o.json)
	return c
}

func (o *versionOptions) run(_ context.Context, j *job.Job, _ []string) error {
	if o.json {
		return job.WriteJSON(j.Stdout, map[string]string{"version": j.Version, "go": runtime.Version(), "os": j.OS, "arch": runtime.GOARCH})
	}
	_, err := io.WriteString(j.Stdout, versionLine(j.Env))
	return err
}

func versionLine(env *config.Env) string {
	return fmt.Sprintf("skein %s (%s, %s/%s)\n", env.Version, runtime.Version(), env.OS, runtime.GOARCH)
}
