package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
)

func newContinue(f *frame) *cobra.Command {
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
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			return o.goOn(ctx, j, args, newestThread, "skein continue")
		}),
	}
	o.pickFlags(c)
	o.flags(c)
	o.showFlags(c)
	jsonFlag(c, &o.json)
	return c
}

func newResume(f *frame) *cobra.Command {
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
			if o.picks() > 0 {
				return nil
			}
			return words(1, -1, "the NAME of a session, and perhaps a PROMPT")(c, args)
		},
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			if o.picks() == 0 {
				o.name, args = args[0], args[1:]
			}
			return o.goOn(ctx, j, args, newestThread, "skein resume")
		}),
	}
	o.pickFlags(c)
	o.flags(c)
	o.showFlags(c)
	jsonFlag(c, &o.json)
	return c
}

// goOn says the prompt, if there is one. Else it retries the last prompt, if that
// has no answer, or opens the conversation.
func (o *runOptions) goOn(ctx context.Context, j *job, args []string, start start, program string) error {
	prompt, err := j.prompt(ctx, args)
	if err != nil {
		return err
	}
	if prompt == "" && j.Terminal.In && j.Terminal.Out && !o.json {
		o.start, o.takeUp = start, true
		return o.chat(ctx, j)
	}
	return o.with(ctx, j, start, program, func(t *thread) (agent.Outcome, error) {
		if prompt != "" {
			return t.answer(ctx, prompt)
		}
		pending, err := t.Pending(ctx)
		if err != nil {
			return agent.Outcome{}, err
		}
		if !pending {
			return agent.Outcome{}, advise(&told{"there is no prompt, and the last one of session " + shortID(t.ID()) + " has its answer", skein.ErrInvalid},
				"say one: %s PROMPT", o.again(t, program))
		}
		return t.Retry(ctx)
	})
}

// again returns the command line by which program continues t.
func (o *runOptions) again(t *thread, program string) string {
	if o.name == "" && o.key == "" {
		return program
	}
	return "skein resume " + shortID(t.ID())
}
