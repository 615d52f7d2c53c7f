package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
)

type overviewOptions struct{ json bool }

// newOverview returns the command skein without arguments.
func newOverview(f *job.Frame) *cobra.Command {
	var o overviewOptions
	c := &cobra.Command{
		Use:   "skein [command] [flags]",
		Short: "keep, find and read the sessions of your AI agents",
		Long: `skein keeps the sessions of your AI agents: what was said, which tools ran, and
what it cost. Name a session by its ID or the end of its ID, by its key, by its
title or a part of the title, or by - for the newest session of this project.
skein without a command shows the newest sessions of this project.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			typed := args[0]
			if len(args) > 1 && meanings[typed] == "list" { // session info
				typed += " " + args[1]
			}
			err := fault.Usage("no command %q", typed)
			if near := meant(c, args); near != "" {
				return fault.Advise(err, "did you mean: skein %s", near)
			}
			return err
		},
		RunE: f.WithStore(o.run),
	}
	c.SuggestionsMinimumDistance = 2
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	return c
}

const welcome = "No sessions yet. skein keeps the sessions of your AI agents in one place."

// recent is how many sessions the overview shows.
const recent = 5

func (o *overviewOptions) run(ctx context.Context, j *job.Job, _ []string) error {
	project, err := j.ProjectOf("")
	if err != nil {
		return err
	}
	here, err := sessions.Matching(ctx, j, skein.Filter{Project: project, NoChildren: true, Limit: recent + 1})
	if err != nil {
		return err
	}
	all := here
	if len(here) <= recent {
		if all, err = sessions.Matching(ctx, j, skein.Filter{NoChildren: true, Limit: recent + 1}); err != nil {
			return err
		}
	}
	shown, title := here, "Newest in "+j.Tilde(project)
	if len(here) == 0 {
		shown, title = all, "Newest of all projects"
	}
	more := len(shown) > recent
	shown = shown[:min(len(shown), recent)]
	costs, err := sessions.Costs(ctx, j, shown)
	if err != nil {
		return err
	}
	shown = sessions.Secrets(false).Mask().Sessions(shown)
	if o.json {
		return sessions.WriteAll(j.Stdout, shown, costs)
	}
	if len(shown) > 0 {
		fmt.Fprintf(j.Stdout, "%s\n\n", j.Paint.Bold(terminal.Cut(title, terminal.CmpOr(j.Terminal.Columns(), 1000))))
		t := sessions.Table(j, shown, costs)
		t.Head = j.Paint.Dim
		if err := j.Table(j.Stdout, t); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(j.Stdout, terminal.HelpText{Width: terminal.CmpOr(j.Terminal.Columns(), 80)}.Wrap(welcome, 0))
	}
	newest := ""
	switch {
	case len(here) > 0:
		newest = "-"
	case len(shown) > 0:
		newest = sessions.ShortID(shown[0].ID)
	}
	return o.next(j, newest, more || len(all) > len(shown))
}

// next says what to type next, on stderr. newest names the newest session, ""
// if there is none.
func (o *overviewOptions) next(j *job.Job, newest string, more bool) error {
	var rows [][2]string
	if newest != "" {
		rows = append(rows, [2]string{"skein show " + newest, "read the newest"}, [2]string{"skein search WORDS", "find what was said or done"})
	}
	if more {
		rows = append(rows, [2]string{"skein list --all", "all sessions"})
	}
	rows = append(rows, [2]string{"skein import", "import the sessions of the agents on this machine"}, [2]string{"skein help", "everything else"})
	h := terminal.HelpText{Paint: j.Paint, Width: terminal.CmpOr(j.Terminal.Width, 80)}
	_, err := io.WriteString(j.Stderr, "\n"+h.Rows(rows))
	return err
}
