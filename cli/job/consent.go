package job

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/fault"
)

// A Consent is what a command that destroys something for good needs first: a yes
// at the terminal, or --yes. Before that, it names what will be destroyed. With
// --dry-run it only names it.
type Consent struct{ Yes, DryRun bool }

// Flags adds the flags to c.
func (o *Consent) Flags(c *cobra.Command) {
	c.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do it without asking")
	c.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false, "show what would be done, and do nothing")
}

// A Loss is what will be destroyed.
type Loss struct {
	Lines    []string // names of what is destroyed
	Question string   // "Destroy it for good?"
	Would    string   // "it would be destroyed"
}

// Given reports whether the person agrees to the destruction. It calls what only if
// what is destroyed has to be named.
//
// The error wraps errUsage if there is nobody to ask.
func (o *Consent) Given(ctx context.Context, j *Job, what func() (Loss, error)) (bool, error) {
	if o.Yes && !o.DryRun {
		return true, nil
	}
	l, err := what()
	if err != nil {
		return false, err
	}
	for _, line := range l.Lines {
		Tell(j.Env, line)
	}
	switch {
	case o.DryRun:
		j.Say("nothing was done: %s", l.Would)
		return false, nil
	case !j.Terminal.In:
		return false, fault.Advise(fault.Usage("nothing was done: %s, and without a terminal to ask at that needs --yes", l.Would), "see what it would do with --dry-run, do it with --yes")
	}
	answer, err := j.Ask(ctx, Question{Text: l.Question})
	if err == nil && answer != Yes {
		j.Say("nothing was done")
	}
	return answer == Yes, err
}
