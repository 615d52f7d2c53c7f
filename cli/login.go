package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

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

func newTokenLogins(f *frame) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use: "logins [flags]", Short: "list the browsers that are logged in",
		Args: words(0, 0, ""),
		RunE: f.withRegistry(func(ctx context.Context, j *job, _ []string) error {
			tokens, err := j.tokens()
			if err != nil {
				return err
			}
			all, err := tokens.Logins(ctx)
			if err != nil {
				return err
			}
			t := &table{columns: []column{
				{title: "LOGIN", paint: j.paint.Cyan},
				{title: "DEVICE", rank: 2},
				{title: "ADDRESS", rank: 3},
				{title: "LAST USED", rank: 1},
				{title: "TOKEN", rank: 4},
				{title: "USER", rank: 5},
			}}
			for _, l := range all {
				if json {
					if err := writeJSON(j.Stdout, loginLine{l.ID, l.Access.Name, l.Access.User, l.Device, l.Address, l.Created, l.Used, l.Expires}); err != nil {
						return err
					}
				}
				user := "everyone's"
				if l.Access.User != "" {
					user = string(l.Access.User)
				}
				t.rows = append(t.rows, []string{l.ID, render.Line(l.Device), render.Line(l.Address), l.Used.Std().Local().Format("2006-01-02 15:04"), render.Line(l.Access.Name), render.Line(user)})
			}
			if json {
				return nil
			}
			if len(t.rows) == 0 {
				j.say("no browser is logged in")
				return nil
			}
			return j.table(j.Stdout, t)
		}),
	}
	f.wideFlag(c)
	jsonFlag(c, &json)
	return c
}

func newTokenLogout(f *frame) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use: "logout LOGIN… | --all", Short: "end browser logins; the tokens stay",
		Args: words(0, -1, ""),
		RunE: f.withRegistry(func(ctx context.Context, j *job, ids []string) error {
			if all == (len(ids) > 0) {
				return usagef("name the logins to end, as skein token logins lists them, or --all")
			}
			tokens, err := j.tokens()
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
				j.say("logins ended: %d", len(ids))
				return nil
			}
			for _, id := range ids {
				if err := tokens.EndLogins(ctx, id); errors.Is(err, skein.ErrNotFound) {
					return advise(err, "see which there are: skein token logins")
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
