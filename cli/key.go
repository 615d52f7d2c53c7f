package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/agent/roster"
)

type keyOptions struct {
	remove, json bool
	consent
}

func newKey(f *frame) *cobra.Command {
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
		Args: words(0, 1, "the name of a provider"),
		RunE: f.plain(o.run),
	}
	c.Flags().BoolVar(&o.remove, "remove", false, "remove the key from the key ring")
	o.flags(c)
	f.wideFlag(c)
	jsonFlag(c, &o.json)
	f.completeArg(c, func(context.Context, string) []string {
		return roster.New(roster.Options{}).Providers()
	})
	return c
}

func (o *keyOptions) run(ctx context.Context, j *job, args []string) error {
	cwd, err := j.Getwd()
	if err != nil {
		return err
	}
	r := j.roster(nil, cwd)
	if len(args) == 0 {
		if o.remove {
			return usagef("--remove: of which provider?")
		}
		return o.list(j, r)
	}
	name := args[0]
	p, ok := r.Provider(name)
	switch {
	case !ok && !isSurface(name):
		return advise(missing("there is no provider %q", name), "there are: %s", strings.Join(r.Providers(), ", "))
	case o.remove && j.KeyRing == nil:
		return nil
	case o.remove:
		key := "the key of " + name + " in the key ring"
		ok, err := o.given(ctx, j, func() (loss, error) {
			return loss{[]string{key}, "Take it out for good?", key + " would be taken out"}, nil
		})
		if ok {
			err = j.KeyRing.DropKey(name)
		}
		return err
	}
	key, err := j.hidden(ctx, "key of "+name)
	if err != nil {
		return err
	}
	if err = ErrNoKeyRing; j.KeyRing != nil {
		err = j.KeyRing.SetKey(name, key)
	}
	if err != nil {
		return advise(err, "put the key into the environment: %s", strings.Join(p.KeyEnv, " or "))
	}
	j.say("the key ring has the key of %s now", name)
	return nil
}

// hidden reads one line without echo.
func (j *job) hidden(ctx context.Context, what string) (string, error) {
	if in, ok := j.Stdin.(*os.File); ok && j.Terminal.In {
		fmt.Fprintf(j.Stderr, "%s (it is not shown): ", what)
		b, err := term.ReadPassword(in.Fd())
		fmt.Fprintln(j.Stderr)
		return checkKey(what, string(b), err)
	}
	text, err := j.line(ctx)
	return checkKey(what, text, err)
}

func checkKey(what, text string, err error) (string, error) {
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = usagef("%s: it is empty", what)
	}
	return text, err
}

// A keyLine is a provider in JSON.
type keyLine struct {
	Provider string `json:"provider"`
	Key      string `json:"key"` // its source: a variable, key ring, not needed, or empty
	URL      string `json:"url,omitempty"`
}

func (o *keyOptions) list(j *job, r *roster.Roster) error {
	t := &table{columns: []column{{title: "PROVIDER", paint: j.paint.Cyan}, {title: "KEY"}, {title: "WHERE", min: 10, rank: 1, paint: j.paint.Dim}}}
	for _, name := range r.Providers() {
		p, _ := r.Provider(name)
		from, err := r.KeyFrom(name)
		if err != nil {
			return err
		}
		if o.json {
			if err := writeJSON(j.Stdout, keyLine{name, from, p.BaseURL}); err != nil {
				return err
			}
			continue
		}
		if from == "" {
			from = "none: " + strings.Join(p.KeyEnv, " or ")
		}
		t.rows = append(t.rows, []string{name, from, p.BaseURL})
	}
	if o.json {
		return nil
	}
	return j.table(j.Stdout, t)
}
