package trace

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
)

type diffOptions struct {
	turn    int
	json    bool
	secrets sessions.Secrets
}

// NewDiff returns the command diff.
func NewDiff(f *job.Frame) *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff NAME [flags]",
		Short: "show what a session changed in the files here, as a patch",
		Long: `Show what a session changed in the files of the repository here: all of it, or
what one turn changed. The patch follows from the session's calls, whichever
agent it ran in; git apply takes it. A file begins as it was in the commit that
was checked out when the session began. If others changed it before the session
went on with it, it is there twice, the second time from the newest commit on.

What a session's shell commands did is included where their text tells: a
here-document, a patch, a moved or deleted file. An edit that does not fit,
because the file had changed meanwhile, is left out; if there are any, the exit
code is 1.`,
		Example: `skein diff last
	skein diff 4f1d22a0 --turn 3
	skein diff - --turn 3 | git apply -R`,
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().IntVar(&o.turn, "turn", 0, "only what the turn with this `number` changed")
	job.JSONFlag(c, &o.json)
	sessions.SecretsFlag(c, &o.secrets)
	return c
}

// A fileChange is what a session did to a file, in JSON.
type fileChange struct {
	Path    string `json:"path"`
	Patch   string `json:"patch"`
	LeftOut int    `json:"left_out,omitempty"` // edits that did not fit
}

func (o *diffOptions) run(ctx context.Context, j *job.Job, args []string) (err error) {
	if o.turn < 0 {
		return fault.Usage("--turn %d: want a number from 1 on", o.turn)
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	t, err := open(ctx, j, ".", o.secrets.Mask())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	all, err := t.Diff(ctx, &s, o.turn, o.turn)
	if err != nil {
		return err
	}
	left, shown, hidden := 0, 0, false
	err = j.Page(ctx, func(w io.Writer) error {
		for i := range all {
			f := &all[i]
			left += f.Left
			plain := f.Patch()
			patch := t.hide.Text(plain)
			hidden = hidden || patch != plain
			if o.json {
				err = job.WriteJSON(w, fileChange{f.Path, patch, f.Left})
			} else {
				_, err = io.WriteString(w, patch)
			}
			if err != nil {
				return err
			}
			if patch != "" {
				shown++
			}
		}
		return nil
	})
	if hidden {
		j.Say("secrets are hidden: the patch does not apply as it is shown; --raw shows them")
	}
	switch {
	case err != nil:
		return err
	case left > 0:
		for _, f := range all {
			if f.Left > 0 {
				j.Say("%s: %s left out: what it replaces was not there", f.Path, terminal.Count(f.Left, "edit"))
			}
		}
		return fault.ErrSilent
	case shown == 0:
		j.Say("the session is not known to have changed a file of this repository")
	}
	return nil
}
