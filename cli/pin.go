package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

type pinOptions struct {
	pinned bool // what to set it to
	json   bool
}

func newPin(f *frame) *cobra.Command {
	return pinCommand(f, &pinOptions{pinned: true}, &cobra.Command{
		Use:   "pin NAME... [flags]",
		Short: "pin sessions, for list --pinned and prune --keep-pinned",
	})
}

func newUnpin(f *frame) *cobra.Command {
	return pinCommand(f, &pinOptions{}, &cobra.Command{
		Use:   "unpin NAME... [flags]",
		Short: "unpin sessions",
	})
}

func pinCommand(f *frame, o *pinOptions, c *cobra.Command) *cobra.Command {
	c.Args, c.RunE = words(1, -1, "the NAME of a session"), f.withStore(o.run)
	jsonFlag(c, &o.json)
	return c
}

func (o *pinOptions) run(ctx context.Context, j *job, args []string) error {
	found := make([]skein.Session, len(args))
	for i, name := range args { // resolve all names first, so that a wrong one changes nothing
		s, err := j.session(ctx, name)
		if err != nil {
			return err
		}
		found[i] = s
	}
	for _, s := range found {
		if err := o.pin(ctx, j, s); err != nil {
			return err
		}
	}
	return nil
}

func (o *pinOptions) pin(ctx context.Context, j *job, s skein.Session) error {
	if s.Pinned != o.pinned {
		changed := skein.NewEvent(skein.KindChanged, skein.At(j.Now()), skein.Changed{Pinned: &o.pinned})
		if _, err := skein.Add(ctx, j.store, s.ID, changed); err != nil {
			return err
		}
		j.catchUp(ctx, &s)
	}
	if o.json {
		return j.writeSession(ctx, s.ID)
	}
	how := "pinned"
	if !o.pinned {
		how = "not pinned any more"
	}
	j.say("%s %q is %s", shortID(s.ID), s.Name(), how)
	return nil
}
