package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// newOverview returns the command skein itself.
func newOverview(f *frame) *cobra.Command {
	return &cobra.Command{
		Use:   "skein [command] [flags]",
		Short: "keep, find and read the sessions of your AI agents",
		Long: `skein keeps the sessions of your AI agents: what was said, which tools ran,
what it cost. A session is named by its ID or the end of it, by its title or a
part of it, or by - for the newest of this project.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			err := usagef("no command %q", args[0])
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				return advise(err, "did you mean: skein %s", near[0])
			}
			return err
		},
		RunE: f.withStore(runOverview),
	}
}

func runOverview(ctx context.Context, j *job, _ []string) error {
	return nil
}
