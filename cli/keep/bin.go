package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/store/lookup"
)

type rmOptions struct {
	children string
	purge    bool
	json     bool
	job.Consent
}

// NewRm returns the command rm.
func NewRm(f *job.Frame) *cobra.Command {
	var o rmOptions
	c := &cobra.Command{
		Use:     "rm NAME… [flags]",
		Aliases: []string{"delete", "remove"},
		Short:   "put sessions in the bin, or destroy them",
		Long: `Put sessions in the bin: they no longer appear in lists and searches, and skein
restore brings them back. --purge destroys sessions, in the bin or not, with
their imported records, and no import brings them back unless you use --again. A
fork keeps what it shows of them. --purge asks for confirmation on the terminal,
or needs --yes; it does not accept a part of a title, - or last as the name.

--children says what happens to the sessions that their agents started: keep
leaves them, bin puts them in the bin too, and refuse does nothing if there are
any.`,
		Example: `skein rm last
	skein rm 4f1d22a0 --children bin
	skein rm 4f1d22a0 --purge --dry-run`,
		Args: job.Words(1, -1, "the NAME of a session, or several"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.children, "children", "keep", "`rule` for the children: keep, bin or refuse")
	c.Flags().BoolVar(&o.purge, "purge", false, "destroy the sessions; this cannot be undone")
	o.Flags(c)
	job.JSONFlag(c, &o.json)
	job.Fixed(c, "children", "keep", "bin", "refuse")
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

func (o *rmOptions) run(ctx context.Context, j *job.Job, args []string) error {
	rule := skein.ChildRule(o.children)
	if !slices.Contains([]skein.ChildRule{skein.KeepChildren, skein.BinChildren, skein.RefuseChildren}, rule) {
		return fault.Usage("--children %q: want keep, bin or refuse", o.children)
	}
	all, err := o.meant(ctx, j, args)
	if err != nil {
		return err
	}
	if o.DryRun || o.purge {
		if ok, err := o.Given(ctx, j, func() (job.Destruction, error) { return o.loss(ctx, j, all) }); !ok {
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
func (o *rmOptions) meant(ctx context.Context, j *job.Job, args []string) (all []skein.Session, err error) {
	find := func(name string) (skein.Session, error) {
		if o.purge && !o.DryRun {
			return sessions.ToDestroy(ctx, j, name)
		}
		return sessions.SessionOrBinned(ctx, j, name)
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
func (o *rmOptions) loss(ctx context.Context, j *job.Job, all []skein.Session) (l job.Destruction, err error) {
	for i := range all {
		r := removed{ID: all[i].ID, DryRun: true}
		if r.Forks, err = sessions.ForksOf(ctx, j, r.ID); err != nil {
			return l, err
		}
		if r.Children, err = children(ctx, j, r.ID); err != nil {
			return l, err
		}
		if o.json && o.DryRun {
			if err := job.WriteJSON(j.Stdout, r); err != nil {
				return l, err
			}
			continue
		}
		l.Lines = append(l.Lines, sessions.Describe(j, &all[i], r.Forks))
		if n := len(r.Children); n > 0 {
			l.Lines = append(l.Lines, fmt.Sprintf("  %s; --children %s", terminal.Count(n, "child session"), o.children))
		}
	}
	these := terminal.Count(len(all), "session")
	if !o.purge {
		return job.Destruction{Lines: l.Lines, Question: "", Would: these + " would go to the bin"}, nil
	}
	return job.Destruction{Lines: l.Lines, Question: fmt.Sprintf("Destroy %s for good?", these), Would: these + " would be destroyed"}, nil
}

func (o *rmOptions) remove(ctx context.Context, j *job.Job, s skein.Session, rule skein.ChildRule) (removed, error) {
	if o.purge {
		d, err := skein.LifecycleOf(j.Store).Delete(ctx, s.ID, skein.Deletion{Children: rule})
		if errors.Is(err, skein.ErrRefused) {
			return removed{}, refused(s, err)
		}
		if err == nil {
			err = sessionlog.Remove(sessions.LogDir(j), s.User, s.ID)
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
		return r, refused(s, &fault.StatedError{Text: fmt.Sprintf("session %s has %s", sessions.ShortID(s.ID), terminal.Count(len(below), "child session")), Kind: skein.ErrRefused})
	case rule == skein.BinChildren:
		for _, id := range below {
			if err := skein.LifecycleOf(j.Store).Bin(ctx, id); err != nil {
				return r, err
			}
		}
		r.Binned = below
	default:
		r.Children = below
	}
	return r, skein.LifecycleOf(j.Store).Bin(ctx, s.ID)
}

func refused(s skein.Session, err error) error {
	return fault.Advise(err, "see them: skein tree %s; then say --children keep or --children bin", sessions.ShortID(s.ID))
}

// children returns all descendants of session id.
func children(ctx context.Context, j *job.Job, id skein.SessionID) (all []skein.SessionID, err error) {
	found, err := sessions.Matching(ctx, j, skein.Filter{Parent: id, IncludeEmpty: true})
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

func (o *rmOptions) report(j *job.Job, s skein.Session, r removed) error {
	if o.json {
		return job.WriteJSON(j.Stdout, r)
	}
	if r.Purged {
		j.Say("%s %q is destroyed: %s, about %s", sessions.ShortID(s.ID), sessions.Called(s), terminal.Count(r.Events, "event"), terminal.BytesText(r.Bytes))
	} else {
		j.Say("%s %q is in the bin; bring it back: skein restore %s", sessions.ShortID(s.ID), sessions.Called(s), sessions.ShortID(s.ID))
	}
	if n := len(r.Forks); n > 0 {
		j.Say("  what it shares with %s stays there", terminal.Count(n, "fork"))
	}
	if n := len(r.Binned); n > 0 {
		j.Say("  %s went to the bin", terminal.Count(n, "child session"))
	}
	if n := len(r.Children); n > 0 {
		j.Say("  %s kept", terminal.Count(n, "child session"))
	}
	return nil
}

type restoreOptions struct{ json bool }

// NewRestore returns the command restore.
func NewRestore(f *job.Frame) *cobra.Command {
	var o restoreOptions
	c := &cobra.Command{
		Use:     "restore NAME… [flags]",
		Short:   "take sessions out of the bin",
		Long:    "Take sessions out of the bin. If another session has taken a session's key in\nthe meantime, the other session keeps the key.",
		Example: `skein restore 4f1d22a0`,
		Args:    job.Words(1, -1, "the NAME of a session, or several"),
		RunE:    f.WithStore(o.run),
	}
	job.JSONFlag(c, &o.json)
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

func (o *restoreOptions) run(ctx context.Context, j *job.Job, args []string) error {
	var all []skein.Session
	for _, name := range args { // check all of them before restoring the first
		s, err := sessions.Binned(ctx, j, name)
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

func restore(ctx context.Context, j *job.Job, s skein.Session) (restored, error) {
	r := restored{ID: s.ID, Name: s.Name()}
	if err := skein.LifecycleOf(j.Store).Restore(ctx, s.ID); err != nil {
		return r, err
	}
	back, err := j.Store.Session(ctx, s.ID)
	if err != nil {
		return r, err
	}
	if r.Key = back.Key; s.Key != back.Key {
		r.Lost = s.Key
	}
	below, err := sessions.Matching(ctx, j, skein.Filter{Parent: s.ID, Bin: true, IncludeEmpty: true})
	for _, b := range below {
		if b.Parent != nil && b.Parent.Why == skein.Child {
			r.Children = append(r.Children, b.ID)
		}
	}
	return r, err
}

func (o *restoreOptions) report(j *job.Job, s skein.Session, r restored) error {
	if o.json {
		return job.WriteJSON(j.Stdout, r)
	}
	j.Say("%s %q is back", sessions.ShortID(s.ID), sessions.Called(s))
	if r.Lost != "" {
		j.Say("  without its key %s, which another session has taken", r.Lost)
	}
	if len(r.Children) > 0 {
		j.Say("  still in the bin: %s; restore them too: skein restore %s", terminal.Count(len(r.Children), "child session"), strings.Join(lookup.ShortIDs(r.Children), " "))
	}
	return nil
}
