package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lookup"
)

type restoreOptions struct{ json bool }

func newRestore(f *frame) *cobra.Command {
	var o restoreOptions
	c := &cobra.Command{
		Use:     "restore NAME… [flags]",
		Short:   "take sessions out of the bin",
		Long:    "Take sessions out of the bin. If another session has taken a session's key in the meantime, it keeps the key.",
		Example: `skein restore 4f1d22a0`,
		Args:    words(1, -1, "the NAME of a session, or several"),
		RunE:    f.withStore(o.run),
	}
	jsonFlag(c, &o.json)
	return c
}

// A restored is a session that was restored from the bin, in JSON.
type restored struct {
	ID       skein.SessionID   `json:"id"`
	Name     string            `json:"name"`
	Key      string            `json:"key,omitempty"`
	Lost     string            `json:"lost_key,omitempty"`        // another session has it now
	Children []skein.SessionID `json:"children_binned,omitempty"` // still in the bin
}

func (o *restoreOptions) run(ctx context.Context, j *job, args []string) error {
	var all []skein.Session
	for _, name := range args { // check all of them before restoring the first
		s, err := j.binned(ctx, name)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	for _, s := range all {
		r, err := restore(ctx, j, s)
		if err != nil {
			return err
		}
		if err := o.report(j, s, r); err != nil {
			return err
		}
	}
	return nil
}

func restore(ctx context.Context, j *job, s skein.Session) (restored, error) {
	r := restored{ID: s.ID, Name: s.Name()}
	if err := skein.LifecycleOf(j.store).Restore(ctx, s.ID); err != nil {
		return r, err
	}
	back, err := j.store.Session(ctx, s.ID)
	if err != nil {
		return r, err
	}
	if r.Key = back.Key; s.Key != back.Key {
		r.Lost = s.Key
	}
	below, err := j.sessions(ctx, skein.Filter{Parent: s.ID, Bin: true, IncludeEmpty: true})
	for _, b := range below {
		if b.Parent != nil && b.Parent.Why == skein.Child {
			r.Children = append(r.Children, b.ID)
		}
	}
	return r, err
}

func (o *restoreOptions) report(j *job, s skein.Session, r restored) error {
	if o.json {
		return writeJSON(j.Stdout, r)
	}
	j.say("%s %q is back", shortID(s.ID), called(s))
	if r.Lost != "" {
		j.say("  without its key %s, which another session has now", r.Lost)
	}
	if len(r.Children) > 0 {
		j.say("  in the bin still: %s; bring back too: skein restore %s", count(len(r.Children), "child session"), strings.Join(lookup.ShortIDs(r.Children), " "))
	}
	return nil
}
