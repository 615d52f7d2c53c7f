package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/accounts"
)

// withRegistry returns the cobra run function of a command on accounts and tokens:
// it opens the store only if the store keeps accounts.
func withRegistry(f *job.Frame, run job.Runner) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return f.Plain(func(ctx context.Context, j *job.Job, args []string) (err error) {
			if !config.IsDatabase(j.Place.Scheme) {
				return run(ctx, j, args)
			}
			if err := j.Begin(ctx); err != nil {
				return job.Unopened(j, err)
			}
			defer func() { err = errors.Join(err, j.Whole.Close()) }()
			return run(ctx, j, args)
		})(c, args)
	}
}

// registryOf returns the store as one that keeps accounts and tokens; nil if it does
// not.
func registryOf(j *job.Job) accounts.Registry {
	r, ok := skein.PartOf[accounts.Registry](j.Whole)
	if !ok {
		return nil
	}
	return r
}

// NewUser returns the command user.
func NewUser(f *job.Frame) *cobra.Command {
	c := &cobra.Command{
		Use:   "user COMMAND",
		Short: "manage the accounts of a database that many users share",
		Long: `Manage the accounts of a store that many users share, which must be a PostgreSQL
database. A user sees only their own sessions, and identifies to a server with a
token: see skein token.`,
		Example: `skein user add ann --max-sessions 1000 --max-bytes 2GB
	skein token add anns-laptop --user ann --scope write,read:raw`,
	}
	c.AddCommand(newUserList(f), newUserAdd(f, "add"), newUserAdd(f, "set"), newUserRm(f))
	return c
}

// accountsOf is registry, but returns an error if there is none.
func accountsOf(j *job.Job) (accounts.Registry, error) {
	if r := registryOf(j); r != nil {
		return r, nil
	}
	return nil, fault.Advise(fault.Usage("the store %s keeps no accounts", j.Place),
		"accounts are kept in a PostgreSQL database: --store postgres://HOST/NAME\nfor a token that sees one user's sessions you need no account here: skein token add NAME --user USER")
}

// A userLine is an account in JSON.
type userLine struct {
	accounts.Account
	Tokens []string `json:"tokens"`
}

func newUserList(f *job.Frame) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use: "list [flags]", Short: "list the accounts, their usage and their limits",
		Args: job.Words(0, 0, ""),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, _ []string) error {
			r, err := accountsOf(j)
			if err != nil {
				return err
			}
			users, err := r.Users(ctx)
			if err != nil {
				return err
			}
			tokens, err := r.Accesses(ctx)
			if err != nil {
				return err
			}
			t := &terminal.Table{Columns: []terminal.Column{{Title: "USER", Paint: j.Paint.Cyan}, {Title: "SESSIONS", Right: true}, {Title: "BYTES", Right: true, Rank: 1}, {Title: "TOKENS", Rank: 2}}}
			for _, u := range users {
				l := userLine{Account: u, Tokens: []string{}}
				for _, a := range tokens {
					if a.User == u.User {
						l.Tokens = append(l.Tokens, a.Name)
					}
				}
				if json {
					if err := job.WriteJSON(j.Stdout, l); err != nil {
						return err
					}
				}
				t.Rows = append(t.Rows, []string{
					render.Line(string(u.User)), of(fmt.Sprint(u.Sessions), u.MaxSessions, fmt.Sprint(u.MaxSessions)),
					of(terminal.BytesText(u.Bytes), u.MaxBytes, terminal.BytesText(u.MaxBytes)), render.Line(strings.Join(l.Tokens, ", ")),
				})
			}
			switch {
			case json:
				return nil
			case len(users) == 0:
				j.Say("no accounts yet; make one: skein user add NAME")
				return nil
			}
			return j.Table(j.Stdout, t)
		}),
	}
	f.WideFlag(c)
	job.JSONFlag(c, &json)
	return c
}

// of returns "HAS of MOST", or only has if bound is 0, which means no limit.
func of(has string, bound int64, most string) string {
	if bound == 0 {
		return has
	}
	return has + " of " + most
}

func newUserAdd(f *job.Frame, act string) *cobra.Command {
	var a accounts.Account
	var most string
	var c *cobra.Command
	c = &cobra.Command{
		Use: act + " NAME [flags]", Short: map[string]string{"add": "make an account", "set": "change the limits of an account"}[act],
		Args: job.Words(1, 1, "the NAME of a user"),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, args []string) error {
			var ok bool
			if a.MaxBytes, ok = terminal.ParseBytes(most); !ok || a.MaxSessions < 0 {
				return fault.Usage("--max-sessions and --max-bytes: want numbers, such as 1000 and 2GB")
			}
			r, err := accountsOf(j)
			if err != nil {
				return err
			}
			a.User = skein.User(args[0])
			if act == "set" {
				return setUser(ctx, c.Flags(), r, a)
			}
			if err := r.AddUser(ctx, a); errors.Is(err, skein.ErrExists) {
				return fault.Advise(err, "change it with: skein user set %s", args[0])
			} else if err != nil {
				return err
			}
			j.Say("give the user a token: skein token add NAME --user %s --scope write,read:raw", args[0])
			return nil
		}),
	}
	c.Flags().Int64Var(&a.MaxSessions, "max-sessions", 0, "at most `N` sessions; 0 for no limit")
	c.Flags().StringVar(&most, "max-bytes", "0", "at most `SIZE` bytes, such as 500MB or 2GB; 0 for no limit")
	return c
}

// setUser changes those limits of an account that were named on the command line.
func setUser(ctx context.Context, named *pflag.FlagSet, r accounts.Registry, a accounts.Account) error {
	if !named.Changed("max-sessions") && !named.Changed("max-bytes") {
		return fault.Usage("skein user set needs --max-sessions or --max-bytes: 0 for no limit")
	}
	users, err := r.Users(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		switch {
		case u.User != a.User:
		case !named.Changed("max-sessions"):
			a.MaxSessions = u.MaxSessions
		case !named.Changed("max-bytes"):
			a.MaxBytes = u.MaxBytes
		}
	}
	return noUser(r.SetUser(ctx, a))
}

// noUser adds advice if the account does not exist.
func noUser(err error) error {
	if errors.Is(err, skein.ErrNotFound) {
		return fault.Advise(err, "list the accounts: skein user list")
	}
	return err
}

func newUserRm(f *job.Frame) *cobra.Command {
	var o job.Consent
	c := &cobra.Command{
		Use: "rm NAME [flags]", Short: "remove an account and its tokens; the sessions stay",
		Args: job.Words(1, 1, "the NAME of a user"),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, args []string) error {
			r, err := accountsOf(j)
			if err != nil {
				return err
			}
			user := skein.User(args[0])
			if ok, err := o.Given(ctx, j, func() (job.Destruction, error) { return accountLoss(ctx, r, user) }); !ok {
				return noUser(err)
			}
			return noUser(r.RemoveUser(ctx, user))
		}),
	}
	o.Flags(c)
	return c
}

// accountLoss says what an account contains.
func accountLoss(ctx context.Context, r accounts.Registry, user skein.User) (job.Destruction, error) {
	users, err := r.Users(ctx)
	if err != nil {
		return job.Destruction{}, err
	}
	tokens, err := r.Accesses(ctx)
	if err != nil {
		return job.Destruction{}, err
	}
	theirs := slices.DeleteFunc(tokens, func(a accounts.Access) bool { return a.User != user })
	for _, u := range users {
		if u.User == user {
			line := fmt.Sprintf("account %q: %s, and %s, which stay", user, terminal.Count(len(theirs), "token"), terminal.Count(u.Sessions, "session"))
			return job.Destruction{Lines: []string{line}, Question: "Remove the account and its tokens?", Would: "the account and its tokens would be removed"}, nil
		}
	}
	return job.Destruction{}, fmt.Errorf("user %q %w", user, skein.ErrNotFound)
}
