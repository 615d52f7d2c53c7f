package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
)

type keyOptions struct {
	remove, json bool
	job.Consent
}

func newKey(f *job.Frame) *cobra.Command {
	var o keyOptions
	c := &cobra.Command{
		Use:   "key [PROVIDER] [flags]",
		Short: "store a provider's API key in the system's key ring",
		Long: `Ask for the API key of a PROVIDER, or read it from stdin, and store it in the
system's key ring, where skein will find it. A key in the environment takes
precedence. Without a PROVIDER, list the providers and the source of each key;
keys are never shown. --remove asks for confirmation on the terminal, or needs
--yes.`,
		Example: `skein key
	skein key anthropic
	pass show anthropic | skein key anthropic`,
		Args: job.Words(0, 1, "the name of a provider"),
		RunE: f.Plain(o.run),
	}
	c.Flags().BoolVar(&o.remove, "remove", false, "remove the key from the key ring")
	o.Flags(c)
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	sessions.CompleteArg(f, c, func(context.Context, string) []string {
		return roster.New(roster.Options{}).Providers()
	})
	return c
}

func (o *keyOptions) run(ctx context.Context, j *job.Job, args []string) error {
	cwd, err := j.Getwd()
	if err != nil {
		return err
	}
	r := thread.Roster(j, nil, cwd)
	if len(args) == 0 {
		if o.remove {
			return fault.Usage("--remove needs a PROVIDER")
		}
		return o.list(j, r)
	}
	name := args[0]
	p, ok := r.Provider(name)
	switch {
	case !ok && !config.IsSurface(name):
		return fault.Advise(fault.Missing("there is no provider %q", name), "there are: %s", strings.Join(r.Providers(), ", "))
	case o.remove && j.KeyRing == nil:
		return nil
	case o.remove:
		key := "the key of " + name + " in the key ring"
		ok, err := o.Given(ctx, j, func() (job.Destruction, error) {
			return job.Destruction{Lines: []string{key}, Question: "Remove it for good?", Would: key + " would be removed"}, nil
		})
		if ok {
			err = j.KeyRing.DropKey(name)
		}
		return err
	}
	key, err := hidden(ctx, j, "key of "+name)
	if err != nil {
		return err
	}
	if err = config.ErrNoKeyRing; j.KeyRing != nil {
		err = j.KeyRing.SetKey(name, key)
	}
	if err != nil {
		return fault.Advise(err, "put the key into the environment: %s", strings.Join(p.KeyEnv, " or "))
	}
	j.Say("stored the key of %s in the key ring", name)
	return nil
}

// hidden reads one line without echo.
func hidden(ctx context.Context, j *job.Job, what string) (string, error) {
	if in, ok := j.Stdin.(*os.File); ok && j.Terminal.In {
		fmt.Fprintf(j.Stderr, "%s (not shown): ", what)
		b, err := term.ReadPassword(in.Fd())
		fmt.Fprintln(j.Stderr)
		return checkKey(what, string(b), err)
	}
	text, err := j.Line(ctx)
	return checkKey(what, text, err)
}

func checkKey(what, text string, err error) (string, error) {
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = fault.Usage("%s: empty", what)
	}
	return text, err
}

// A keyLine is a provider in JSON.
type keyLine struct {
	Provider string `json:"provider"`
	Key      string `json:"key"` // its source: a variable, key ring, not needed, or empty
	URL      string `json:"url,omitempty"`
}

func (o *keyOptions) list(j *job.Job, r *roster.Roster) error {
	t := &terminal.Table{Columns: []terminal.Column{{Title: "PROVIDER", Paint: j.Paint.Cyan}, {Title: "KEY"}, {Title: "WHERE", Min: 10, Rank: 1, Whole: true, Paint: j.Paint.Dim}}}
	for _, name := range r.Providers() {
		p, _ := r.Provider(name)
		from, err := r.KeyFrom(name)
		if err != nil {
			return err
		}
		if o.json {
			if err := job.WriteJSON(j.Stdout, keyLine{name, from, p.BaseURL}); err != nil {
				return err
			}
			continue
		}
		if from == "" {
			from = "none: " + strings.Join(p.KeyEnv, " or ")
		}
		t.Rows = append(t.Rows, []string{name, from, p.BaseURL})
	}
	if o.json {
		return nil
	}
	return j.Table(j.Stdout, t)
}
