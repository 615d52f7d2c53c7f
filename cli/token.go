package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/search"
)

func newToken(f *frame) *cobra.Command {
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
	c.AddCommand(newTokenPath(f), newTokenList(f), newTokenAdd(f), newTokenRm(f), newTokenLogins(f), newTokenLogout(f))
	return c
}

func newTokenPath(f *frame) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "print the path of the token file",
		Args: words(0, 0, ""),
		RunE: f.plain(func(_ context.Context, j *job, _ []string) error {
			t, err := j.tokens() // creates the file, so that the token printed is in it
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(j.Stdout, filepath.Clean(t.Path()))
			return err
		}),
	}
}

func newTokenList(f *frame) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use: "list [flags]", Short: "list the tokens, without their values",
		Args: words(0, 0, ""),
		RunE: f.withRegistry(func(ctx context.Context, j *job, _ []string) error {
			t, err := j.tokens()
			if err != nil {
				return err
			}
			all, err := t.All()
			if err != nil {
				return err
			}
			if r := j.registry(); r != nil {
				more, err := door.Registered(ctx, r)
				if err != nil {
					return err
				}
				all = append(all, more...)
			}
			if !json {
				return j.table(j.Stdout, j.tokenTable(all))
			}
			for _, a := range all {
				if err := writeJSON(j.Stdout, a); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	f.wideFlag(c)
	jsonFlag(c, &json)
	return c
}

func (j *job) tokenTable(all []door.Token) *table {
	t := &table{columns: []column{{title: "TOKEN", rank: 0, paint: j.paint.Cyan}, {title: "MAY", rank: 1}, {title: "USER", rank: 2}, {title: "EXPIRES", rank: 3}}}
	for _, a := range all {
		user, ends := "everyone's", "never"
		if a.User != "" {
			user = string(a.User)
		}
		if a.Expires != 0 {
			ends = a.Expires.Std().Format("2006-01-02 15:04")
		}
		t.rows = append(t.rows, []string{render.Line(a.Name), a.Scope, render.Line(user), ends})
	}
	return t
}

func newTokenAdd(f *frame) *cobra.Command {
	var scope, user, expires string
	c := &cobra.Command{
		Use: "add NAME [flags]", Short: "make a token and print it; it cannot be shown again",
		Args: words(1, 1, "a NAME for the token"),
		RunE: f.withRegistry(func(ctx context.Context, j *job, args []string) error {
			a := door.Token{Name: args[0], Scope: scope, User: skein.User(user)}
			if expires != "" {
				var err error
				if a.Expires, err = parseExpiry(expires, j.Now()); err != nil {
					return err
				}
			}
			token, err := j.addToken(ctx, a)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(j.Stdout, token)
			return err
		}),
	}
	c.Flags().StringVar(&scope, "scope", "read", "permissions: the `SCOPE` read, write or admin; add read:raw, as in write,read:raw, to show secrets, which skein on another machine needs")
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
		return 0, usagef("--expires %s: want a day to come, such as 2027-01-01, or days from now: 30d", s)
	}
	return t, nil
}

func newTokenRm(f *frame) *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME", Short: "remove a token; first is replaced by a new one, which ends all logins",
		Args: words(1, 1, "the NAME of a token"),
		RunE: f.withRegistry(func(ctx context.Context, j *job, args []string) error {
			if r := j.registry(); r != nil && args[0] != door.First {
				return r.RemoveAccess(ctx, args[0])
			}
			t, err := j.tokens()
			if err != nil {
				return err
			}
			return t.Remove(args[0])
		}),
	}
}

// addToken creates a token, in the database if the store is one.
func (j *job) addToken(ctx context.Context, a door.Token) (token string, err error) {
	defer func() {
		if errors.Is(err, skein.ErrExists) {
			err = advise(err, "take another name, or take that token away first: skein token rm %s", a.Name)
		}
	}()
	r := j.registry()
	if r == nil {
		t, err := j.tokens()
		if err != nil {
			return "", err
		}
		return t.Add(a)
	}
	token, err = door.Register(ctx, r, a)
	if errors.Is(err, skein.ErrNotFound) {
		err = advise(err, "make the account first: skein user add %s", a.User)
	}
	return token, err
}
