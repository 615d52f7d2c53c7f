package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/gateway"
)

type linkOptions struct{ remove, json bool }

func newLink(f *frame) *cobra.Command {
	var o linkOptions
	c := &cobra.Command{
		Use:   "link KEY [NAME] [flags]",
		Short: "join a chat elsewhere to one of your sessions",
		Long: `Join the chat, channel or thread with this KEY to the session with this NAME:
from now on, what is said there is said in that session, and skein chat
continues it. Without a NAME, print the session that the KEY is joined to.

A KEY is telegram:BOT:CHAT[:THREAD], discord:CHANNEL, slack:CHANNEL[:THREAD], or
the key of a signed request, such as email:THREAD. skein list --all --columns
key,title shows the keys of existing sessions. With --remove, the chat continues
in a session of its own again. /new in the chat begins a new session that is
linked instead.`,
		Example: `skein link telegram:ada_bot:4711 -
	skein link telegram:ada_bot:4711 --remove`,
		Args: words(1, 2, "the KEY of a chat, and the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().BoolVar(&o.remove, "remove", false, "continue in a session of its own")
	jsonFlag(c, &o.json)
	return c
}

func (o *linkOptions) run(ctx context.Context, j *job, args []string) error {
	key, now := args[0], skein.At(j.Now())
	if err := gateway.Check(key); err != nil {
		return err
	}
	switch {
	case o.remove && len(args) > 1:
		return usagef("--remove takes no %q", args[1])
	case o.remove:
		if err := gateway.Unlink(ctx, j.store, j.owner(), key, now); err != nil {
			return advise(err, "see where it goes on: skein link %s", key)
		}
		j.say("%s is linked to no session any more", key)
		return nil
	case len(args) > 1:
		s, err := j.session(ctx, args[1])
		if err != nil {
			return err
		}
		if err := gateway.Link(ctx, j.store, j.owner(), key, s.ID, now); err != nil {
			return err
		}
		j.say("%s goes on in %s %q", key, shortID(s.ID), s.Name())
	}
	s, err := gateway.Find(ctx, j.store, j.owner(), key)
	if err != nil {
		return advise(err, "join it to a session: skein link %s NAME", key)
	}
	if o.json {
		return j.writeSession(ctx, s.ID)
	}
	if len(args) == 1 {
		_, err = fmt.Fprintln(j.Stdout, s.ID)
	}
	return err
}
