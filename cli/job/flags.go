package job

import (
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/terminal"
)

// WideFlag gives c the flag --wide. Every command has it whose table may be cut.
func (f *Frame) WideFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.wide, "wide", false, "show tables whole: cut nothing, and leave out no columns")
}

// Table prints t on w: on a terminal as much as fits, in a pipe with long text cut,
// and whole with --wide.
//
// The error is that of writing to w.
func (j *Job) Table(w io.Writer, t *terminal.Table) error {
	widths := t.Natural()
	if !j.Wide {
		widths = t.Fit(widths, j.Terminal.Columns())
	}
	head := t.Head
	if head == nil {
		head = j.Paint.Bold
	}
	return t.Write(w, widths, head)
}

// Words returns a check that a command has between min and max arguments (max -1:
// no limit); what names them in its error.
func Words(min, max int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < min:
			return fault.Usage("%s needs %s", c.CommandPath(), what)
		case max == 0 && len(args) > 0:
			return fault.Usage("%s takes no %q", c.CommandPath(), args[0])
		case max >= 0 && len(args) > max:
			return fault.Usage("%s takes only %s; %q is too much", c.CommandPath(), what, args[max])
		}
		return nil
	}
}

// CheckSpeed returns an error unless a flag says how many times as fast something goes.
func CheckSpeed(flag string, times float64) error {
	if !(times > 0) || math.IsInf(times, 0) {
		return fault.Usage("--%s %v: want a number above 0", flag, times)
	}
	return nil
}

// JSONFlag gives c the flag --json.
func JSONFlag(c *cobra.Command, to *bool) {
	c.Flags().BoolVar(to, "json", false, "print JSON, one object per line, with exact text")
}

// Fixed completes the value of a flag to one of values.
func Fixed(c *cobra.Command, flag string, values ...string) {
	MustComplete(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// MustComplete panics if a completion is registered for a flag that does not exist.
func MustComplete(err error) {
	if err != nil {
		panic("cli: " + err.Error())
	}
}

// Hide hides an alias of a flag from the help.
func Hide(c *cobra.Command, flag string) {
	if err := c.Flags().MarkHidden(flag); err != nil {
		panic(err) // the flag does not exist
	}
}

// Minus stands for a hyphen that begins a word that is not a flag. No program
// argument can contain this character.
const Minus = "\x00"

// Unprotect returns word as it was typed.
func Unprotect(word string) string {
	if rest, ok := strings.CutPrefix(word, Minus); ok {
		return "-" + rest
	}
	return word
}

// FlagWords makes the flags of c also answer to other programs' names for them.
func FlagWords(c *cobra.Command, words map[string]string) {
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if ours, ok := words[name]; ok {
			name = ours
		}
		return pflag.NormalizedName(name)
	})
}
