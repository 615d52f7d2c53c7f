package talk

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/thread"
)

// NewContinue returns the command continue.
func NewContinue(f *job.Frame) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "continue [PROMPT…] [flags]",
		Short: "continue the newest session",
		Long: `Continue the newest session of the command line, preferably of this project, but
never one that was imported or came from another surface. With a PROMPT, or with
text on stdin, print the answer, as skein run does. Without a PROMPT, answer the
last prompt if it has no answer yet; on a terminal, open the conversation.`,
		Example: `skein continue
	skein continue "and now the tests"`,
		Args: cobra.ArbitraryArgs,
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
			return o.goOn(ctx, j, args, thread.NewestThread, "skein continue")
		}),
	}
	o.PickFlags(c)
	o.Flags(c)
	o.ShowFlags(c)
	job.JSONFlag(c, &o.json)
	return c
}

// NewResume returns the command resume.
func NewResume(f *job.Frame) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "resume NAME [PROMPT…] [flags]",
		Short: "continue a session",
		Long: `Continue the session with this NAME, whichever program began it; a flag that
picks a session replaces the NAME. With a PROMPT, or with text on stdin, print
the answer, as skein run does. Without a PROMPT, answer the last prompt if it
has no answer yet; on a terminal, open the conversation.`,
		Example: `skein resume 4f1d22a0
	skein resume "the parser" "and now the tests"`,
		Args: func(c *cobra.Command, args []string) error {
			if o.Picks() > 0 {
				return nil
			}
			return job.Words(1, -1, "the NAME of a session, and perhaps a PROMPT")(c, args)
		},
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
			if o.Picks() == 0 {
				o.Name, args = args[0], args[1:]
			}
			return o.goOn(ctx, j, args, thread.NewestThread, "skein resume")
		}),
	}
	o.PickFlags(c)
	o.Flags(c)
	o.ShowFlags(c)
	job.JSONFlag(c, &o.json)
	return c
}

// goOn says the prompt, if there is one. Else it retries the last prompt, if that
// has no answer, or opens the conversation.
func (o *runOptions) goOn(ctx context.Context, j *job.Job, args []string, start thread.Start, program string) error {
	prompt, err := prompt(ctx, j, args)
	if err != nil {
		return err
	}
	if prompt == "" && j.Terminal.In && j.Terminal.Out && !o.json {
		o.Start, o.TakeUp = start, true
		return converse(ctx, &o.Options, j)
	}
	return o.with(ctx, j, start, program, func(t *thread.Thread) (agent.Outcome, error) {
		if prompt != "" {
			return t.Answer(ctx, prompt, thread.Attached{})
		}
		pending, err := t.Pending(ctx)
		if err != nil {
			return agent.Outcome{}, err
		}
		if !pending {
			return agent.Outcome{}, fault.Advise(&fault.StatedError{Text: "there is no prompt, and the last one of session " + sessions.ShortID(t.ID()) + " has its answer", Kind: skein.ErrInvalid},
				"give one: %s PROMPT", o.again(t, program))
		}
		return t.Retry(ctx)
	})
}

// again returns the command line by which program continues t.
func (o *runOptions) again(t *thread.Thread, program string) string {
	if o.Name == "" && o.Key == "" {
		return program
	}
	return "skein resume " + sessions.ShortID(t.ID())
}
