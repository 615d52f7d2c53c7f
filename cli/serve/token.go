package serve

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/search"
)

// NewToken returns the command token.
func NewToken(f *job.Frame) *cobra.Command {
	c := &cobra.Command{
		Use:   "token COMMAND",
		Short: "manage the tokens that skein serve accepts",
		Long: `Manage the tokens that skein serve accepts. The first line of the file that
skein token path prints is a token that can do everything: keep it to yourself.
Make other tokens for other people and programs, with the permissions that they
need; the file contains only a hash of each. If the store is a PostgreSQL
database, tokens are kept in the database, for all servers that use it, and each
token is for a user that skein user add made, or for everybody's sessions.

A browser logs in with one of these tokens, for 30 days. skein token logins
lists the logins, and skein token logout ends them.`,
		Example: `curl -H "Authorization: Bearer $(head -1 "$(skein token path)")" http://127.0.0.1:7433/v1/sessions
	skein token add ci --scope write --expires 2027-01-01`,
	}
	c.AddCommand(newTokenPath(f), newTokenList(f), newTokenAdd(f), newTokenSet(f), newTokenRm(f), newTokenLogins(f), newTokenLogout(f))
	return c
}

func newTokenPath(f *job.Frame) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "print the path of the token file",
		Args: job.Words(0, 0, ""),
		RunE: f.Plain(func(_ context.Context, j *job.Job, _ []string) error {
			t, err := tokens(j) // creates the file, so that the token printed is in it
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(j.Stdout, filepath.Clean(t.Path()))
			return err
		}),
	}
}

func newTokenList(f *job.Frame) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use: "list [flags]", Short: "list the tokens, without their values",
		Args: job.Words(0, 0, ""),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, _ []string) error {
			t, err := tokens(j)
			if err != nil {
				return err
			}
			all, err := t.Known(ctx)
			if err != nil {
				return err
			}
			if !json {
				table := tokenTable(j, all)
				if !t.Audits() { // the store was not opened, and has what tokens were used for
					table.Columns = slices.Delete(table.Columns, usedColumn, usedColumn+1)
					for i, row := range table.Rows {
						table.Rows[i] = slices.Delete(row, usedColumn, usedColumn+1)
					}
				}
				return j.Table(j.Stdout, table)
			}
			for _, a := range all {
				if err := job.WriteJSON(j.Stdout, a); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	f.WideFlag(c)
	job.JSONFlag(c, &json)
	return c
}

// usedColumn is the column of the last use in the table of tokens.
const usedColumn = 3

func tokenTable(j *job.Job, all []door.KnownToken) *terminal.Table {
	t := &terminal.Table{Columns: []terminal.Column{{Title: "TOKEN", Rank: 0, Paint: j.Paint.Cyan}, {Title: "MAY", Rank: 1}, {Title: "USER", Rank: 2}, {Title: "LAST USED", Rank: 4}, {Title: "EXPIRES", Rank: 3}}}
	for _, a := range all {
		user, used, ends := "everyone's", "not yet", "never"
		if a.User != "" {
			user = string(a.User)
		}
		if a.Used != 0 {
			used = a.Used.Std().Format("2006-01-02 15:04")
		}
		if a.Expires != 0 {
			ends = a.Expires.Std().Format("2006-01-02 15:04")
		}
		t.Rows = append(t.Rows, []string{render.Line(a.Name), a.Scope, render.Line(user), used, ends})
	}
	return t
}

func newTokenAdd(f *job.Frame) *cobra.Command {
	var scope, user, expires string
	c := &cobra.Command{
		Use: "add NAME [flags]", Short: "make a token and print it; it cannot be shown again",
		Args: job.Words(1, 1, "a NAME for the token"),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, args []string) error {
			a := door.Token{Name: args[0], Scope: scope, User: skein.User(user)}
			if expires != "" {
				var err error
				if a.Expires, err = parseExpiry(expires, j.Now()); err != nil {
					return err
				}
			}
			token, err := addToken(ctx, j, a)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(j.Stdout, token)
			return err
		}),
	}
	scopeFlag(c, &scope, "read")
	c.Flags().StringVar(&user, "user", "", "show only the sessions of `USER`")
	c.Flags().StringVar(&expires, "expires", "", "`WHEN` the token expires, such as 2027-01-01 or 30d")
	return c
}

// parseExpiry parses a date, or a number of days from now: 30d.
func parseExpiry(s string, now time.Time) (skein.Time, error) {
	if n, err := strconv.Atoi(strings.TrimSuffix(s, "d")); err == nil && n > 0 && strings.HasSuffix(s, "d") {
		return skein.At(now.AddDate(0, 0, n)), nil
	}
	t, err := search.ParseUntil(s, now)
	if err != nil || !t.Std().After(now) {
		return 0, fault.Usage("--expires %s: want a future day, such as 2027-01-01, or days from now: 30d", s)
	}
	return t, nil
}

// scopeFlag gives c the flag --scope, which is preset to scope.
func scopeFlag(c *cobra.Command, value *string, scope string) {
	c.Flags().StringVar(value, "scope", scope, "permissions: the `SCOPE` read, answer, write or admin; add read:raw, as in write,read:raw, to show secrets, which skein on another machine needs")
}

func newTokenSet(f *job.Frame) *cobra.Command {
	var scope string
	c := &cobra.Command{
		Use: "set NAME --scope SCOPE", Short: "change what a token may do; what is open with it is closed",
		Args: job.Words(1, 1, "the NAME of a token"),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, args []string) error {
			if scope == "" {
				return fault.Usage("token set needs --scope: read, answer, write or admin, with or without read:raw")
			}
			if r := registryOf(j); r != nil && args[0] != door.First {
				return noToken(door.SetScope(ctx, r, args[0], scope))
			}
			t, err := tokens(j)
			if err != nil {
				return err
			}
			return noToken(t.SetScope(args[0], scope))
		}),
	}
	scopeFlag(c, &scope, "")
	return c
}

func newTokenRm(f *job.Frame) *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "remove a token; first is replaced by a new one, which ends all logins",
		Args: job.Words(1, 1, "the NAME of a token"),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, args []string) error {
			if r := registryOf(j); r != nil && args[0] != door.First {
				return noToken(r.RemoveAccess(ctx, args[0]))
			}
			t, err := tokens(j)
			if err != nil {
				return err
			}
			return noToken(t.Remove(args[0]))
		}),
	}
}

// noToken adds advice if the token does not exist.
func noToken(err error) error {
	if errors.Is(err, skein.ErrNotFound) {
		return fault.Advise(err, "list the tokens: skein token list")
	}
	return err
}

// addToken creates a token, in the database if the store is one.
func addToken(ctx context.Context, j *job.Job, a door.Token) (token string, err error) {
	defer func() {
		if errors.Is(err, skein.ErrExists) {
			err = fault.Advise(err, "take another name, or remove that token first: skein token rm %s", a.Name)
		}
	}()
	t, err := tokens(j)
	if err != nil {
		return "", err
	}
	token, err = t.Issue(ctx, a)
	if errors.Is(err, skein.ErrNotFound) {
		err = fault.Advise(err, "make the account first: skein user add %s", a.User)
	}
	return token, err
}

// A loginLine is a login in JSON.
type loginLine struct {
	ID      string     `json:"id"`
	Token   string     `json:"token"`
	User    skein.User `json:"user,omitempty"`
	Device  string     `json:"device"`
	Address string     `json:"address"`
	Created skein.Time `json:"created_at"`
	Used    skein.Time `json:"used_at"`
	Expires skein.Time `json:"expires_at"`
}

func newTokenLogins(f *job.Frame) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use: "logins [flags]", Short: "list the browsers that are logged in",
		Args: job.Words(0, 0, ""),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, _ []string) error {
			tokens, err := tokens(j)
			if err != nil {
				return err
			}
			all, err := tokens.Logins(ctx)
			if err != nil {
				return err
			}
			t := &terminal.Table{Columns: []terminal.Column{
				{Title: "LOGIN", Paint: j.Paint.Cyan},
				{Title: "DEVICE", Rank: 2},
				{Title: "ADDRESS", Rank: 3},
				{Title: "LAST USED", Rank: 1},
				{Title: "TOKEN", Rank: 4},
				{Title: "USER", Rank: 5},
			}}
			for _, l := range all {
				if json {
					if err := job.WriteJSON(j.Stdout, loginLine{l.ID, l.Access.Name, l.Access.User, l.Device, l.Address, l.Created, l.Used, l.Expires}); err != nil {
						return err
					}
				}
				user := "everyone's"
				if l.Access.User != "" {
					user = string(l.Access.User)
				}
				t.Rows = append(t.Rows, []string{l.ID, render.Line(l.Device), render.Line(l.Address), l.Used.Std().Local().Format("2006-01-02 15:04"), render.Line(l.Access.Name), render.Line(user)})
			}
			if json {
				return nil
			}
			if len(t.Rows) == 0 {
				j.Say("no browser is logged in")
				return nil
			}
			return j.Table(j.Stdout, t)
		}),
	}
	f.WideFlag(c)
	job.JSONFlag(c, &json)
	return c
}

func newTokenLogout(f *job.Frame) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "logout LOGIN… | --all", Short: "end browser logins; the tokens stay",
		Args: job.Words(0, -1, ""),
		RunE: withRegistry(f, func(ctx context.Context, j *job.Job, ids []string) error {
			if all == (len(ids) > 0) {
				return fault.Usage("name the logins to end, as skein token logins lists them, or --all")
			}
			tokens, err := tokens(j)
			if err != nil {
				return err
			}
			if all {
				logins, err := tokens.Logins(ctx)
				if err != nil {
					return err
				}
				for _, l := range logins {
					ids = append(ids, l.ID)
				}
				if err := tokens.EndLogins(ctx, ids...); err != nil && !errors.Is(err, skein.ErrNotFound) {
					return err
				}
				j.Say("logins ended: %d", len(ids))
				return nil
			}
			for _, id := range ids {
				if err := tokens.EndLogins(ctx, id); errors.Is(err, skein.ErrNotFound) {
					return fault.Advise(err, "list them: skein token logins")
				} else if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "end all browser logins")
	return c
}
