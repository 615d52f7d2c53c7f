package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

type rmOptions struct {
	children string
	purge    bool
	json     bool
	consent
}

func newRm(f *frame) *cobra.Command {
	var o rmOptions
	c := &cobra.Command{
		Use:     "rm NAME… [flags]",
		Aliases: []string{"delete", "remove"},
		Short:   "put sessions in the bin, or destroy them",
		Long: `Put sessions in the bin: they no longer appear in lists and searches, and skein
restore brings them back. --purge destroys sessions, in the bin or not, with
their imported records, and no import brings them back unless you use --again. What a fork of them still shows stays with that fork.
--purge asks for confirmation on the terminal, or needs --yes; it does not
accept a part of a title, - or last as the name.

--children says what happens to the sessions that their agents started: keep
leaves them, bin puts them in the bin too, and refuse does nothing if there are
any.`,
		Example: `skein rm last
	skein rm 4f1d22a0 --children bin
	skein rm 4f1d22a0 --purge --dry-run`,
		Args: words(1, -1, "the NAME of a session, or several"),
		RunE: f.withStore(o.run),
	}
	c.Flags().StringVar(&o.children, "children", "keep", "`rule` for the children: keep, bin or refuse")
	c.Flags().BoolVar(&o.purge, "purge", false, "destroy the sessions; this cannot be undone")
	o.flags(c)
	jsonFlag(c, &o.json)
	fixed(c, "children", "keep", "bin", "refuse")
	return c
}

// A removed is what rm did to one session, in JSON.
type removed struct {
	ID       skein.SessionID   `json:"id"`
	Purged   bool              `json:"purged"`
	DryRun   bool              `json:"dry_run,omitempty"`
	Events   int               `json:"events,omitempty"`          // destroyed
	Bytes    int64             `json:"bytes,omitempty"`           // freed, roughly
	Forks    []skein.SessionID `json:"forks,omitempty"`           // forks that took over the events they show
	Children []skein.SessionID `json:"children,omitempty"`        // those that were kept
	Binned   []skein.SessionID `json:"children_binned,omitempty"` // those moved to the bin
}

func (o *rmOptions) run(ctx context.Context, j *job, args []string) error {
	rule := skein.ChildRule(o.children)
	if !slices.Contains([]skein.ChildRule{skein.KeepChildren, skein.BinChildren, skein.RefuseChildren}, rule) {
		return usagef("--children %q: want keep, bin or refuse", o.children)
	}
	all, err := o.meant(ctx, j, args)
	if err != nil {
		return err
	}
	if o.dryRun || o.purge {
		if ok, err := o.given(ctx, j, func() (loss, error) { return o.loss(ctx, j, all) }); !ok {
			return err
		}
	}
	for _, s := range all {
		r, err := o.remove(ctx, j, s, rule)
		if err != nil {
			return err
		}
		if err := o.report(j, s, r); err != nil {
			return err
		}
	}
	return nil
}

// meant returns the sessions that args name. It resolves all names before any
// session is changed.
func (o *rmOptions) meant(ctx context.Context, j *job, args []string) (all []skein.Session, err error) {
	find := func(name string) (skein.Session, error) {
		if o.purge && !o.dryRun {
			return j.doomed(ctx, name)
		}
		return j.sessionOrBinned(ctx, name)
	}
	for _, name := range args {
		s, err := find(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(b skein.Session) bool { return b.ID == s.ID }) {
			all = append(all, s)
		}
	}
	return all, nil
}

// loss names each of all, and says what happens to its forks and children.
func (o *rmOptions) loss(ctx context.Context, j *job, all []skein.Session) (l loss, err error) {
	for i := range all {
		r := removed{ID: all[i].ID, DryRun: true}
		if r.Forks, err = forksOf(ctx, j, r.ID); err != nil {
			return l, err
		}
		if r.Children, err = children(ctx, j, r.ID); err != nil {
			return l, err
		}
		if o.json && o.dryRun {
			if err := writeJSON(j.Stdout, r); err != nil {
				return l, err
			}
			continue
		}
		l.lines = append(l.lines, j.named(&all[i], r.Forks))
		if n := len(r.Children); n > 0 {
			l.lines = append(l.lines, fmt.Sprintf("  %s; --children %s", count(n, "child session"), o.children))
		}
	}
	these := count(len(all), "session")
	if !o.purge {
		return loss{l.lines, "", these + " would go to the bin"}, nil
	}
	return loss{l.lines, fmt.Sprintf("Destroy %s for good?", these), these + " would be destroyed"}, nil
}

func (o *rmOptions) remove(ctx context.Context, j *job, s skein.Session, rule skein.ChildRule) (removed, error) {
	if o.purge {
		d, err := skein.LifecycleOf(j.store).Delete(ctx, s.ID, skein.Deletion{Children: rule})
		if errors.Is(err, skein.ErrRefused) {
			return removed{}, refused(s, err)
		}
		if err == nil {
			err = sessionlog.Remove(j.logDir(), s.User, s.ID)
		}
		return removed{s.ID, true, false, d.Events, d.Bytes, d.Moved, d.Children, d.Binned}, err
	}
	below, err := children(ctx, j, s.ID)
	if err != nil {
		return removed{}, err
	}
	r := removed{ID: s.ID}
	switch {
	case len(below) > 0 && rule == skein.RefuseChildren:
		return r, refused(s, &told{fmt.Sprintf("session %s has %s", shortID(s.ID), count(len(below), "child session")), skein.ErrRefused})
	case rule == skein.BinChildren:
		for _, id := range below {
			if err := skein.LifecycleOf(j.store).Bin(ctx, id); err != nil {
				return r, err
			}
		}
		r.Binned = below
	default:
		r.Children = below
	}
	return r, skein.LifecycleOf(j.store).Bin(ctx, s.ID)
}

func refused(s skein.Session, err error) error {
	return advise(err, "see them: skein tree %s; then say --children keep or --children bin", shortID(s.ID))
}

// children returns all descendants of session id.
func children(ctx context.Context, j *job, id skein.SessionID) (all []skein.SessionID, err error) {
	found, err := j.sessions(ctx, skein.Filter{Parent: id, IncludeEmpty: true})
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		if s.Parent == nil || s.Parent.Why != skein.Child {
			continue
		}
		below, err := children(ctx, j, s.ID)
		if err != nil {
			return nil, err
		}
		all = append(append(all, s.ID), below...)
	}
	return all, nil
}

func (o *rmOptions) report(j *job, s skein.Session, r removed) error {
	if o.json {
		return writeJSON(j.Stdout, r)
	}
	if r.Purged {
		j.say("%s %q is destroyed: %s, about %s", shortID(s.ID), called(s), count(r.Events, "event"), bytesText(r.Bytes))
	} else {
		j.say("%s %q is in the bin; bring it back: skein restore %s", shortID(s.ID), called(s), shortID(s.ID))
	}
	if n := len(r.Forks); n > 0 {
		j.say("  what it shares with %s stays there", count(n, "fork"))
	}
	if n := len(r.Binned); n > 0 {
		j.say("  %s went to the bin", count(n, "child session"))
	}
	if n := len(r.Children); n > 0 {
		j.say("  %s kept", count(n, "child session"))
	}
	return nil
}
