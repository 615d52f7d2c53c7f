package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

type clearOptions struct {
	context, log, json bool
	consent
}

func newClear(f *frame) *cobra.Command {
	var o clearOptions
	c := &cobra.Command{
		Use:   "clear NAME --context|--log [flags]",
		Short: "begin a session's context afresh, or empty its log",
		Long: `With --context, begin the session's context afresh: the model no longer sees
what was said so far. Everything stays in the session, and /redo in a chat takes
the change back.

With --log, empty the session's log. What happens later is written to the log
again. The session itself and what the model sees do not change. This cannot be
undone, so it asks for confirmation on the terminal, or needs --yes; it does not
accept a part of a title, - or last as the name.`,
		Example: `skein clear - --context
	skein clear 4f1d22a0 --log`,
		Args: words(1, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().BoolVar(&o.context, "context", false, "begin the session's context afresh")
	c.Flags().BoolVar(&o.log, "log", false, "empty the session's log")
	o.flags(c)
	jsonFlag(c, &o.json)
	return c
}

// A clearedLine says in JSON what was cleared.
type clearedLine struct {
	ID      skein.SessionID `json:"id"`
	Context bool            `json:"context"`
	Log     bool            `json:"log"`
}

func (o *clearOptions) run(ctx context.Context, j *job, args []string) error {
	if !o.context && !o.log {
		return usagef("clear what? --context, --log, or both")
	}
	find := func(name string) (skein.Session, error) {
		if o.log && !o.dryRun {
			return j.doomed(ctx, name)
		}
		return j.session(ctx, name)
	}
	s, err := find(args[0])
	if err != nil {
		return err
	}
	if o.log || o.dryRun {
		if ok, err := o.given(ctx, j, func() (loss, error) { return o.loss(ctx, j, &s) }); !ok {
			return err
		}
	}
	if o.context {
		if err := j.clearContext(ctx, s); err != nil {
			return err
		}
	}
	if o.log {
		if err := j.clearLog(ctx, s); err != nil {
			return err
		}
	}
	if o.json {
		return writeJSON(j.Stdout, clearedLine{s.ID, o.context, o.log})
	}
	if o.context {
		j.say("the context of %s %q begins afresh; nothing of it is lost", shortID(s.ID), called(s))
	}
	if o.log {
		j.say("the log of %s %q is empty", shortID(s.ID), called(s))
	}
	return nil
}

// loss names the session, and says how much of it would be cleared.
func (o *clearOptions) loss(ctx context.Context, j *job, s *skein.Session) (loss, error) {
	if !o.log {
		return loss{lines: []string{j.named(s, nil)}, would: "its context would begin afresh, all of it staying in the session"}, nil
	}
	path, err := j.logOf(ctx, *s)
	if err != nil {
		return loss{}, err
	}
	return loss{[]string{j.named(s, nil), "its log: " + j.tilde(path)}, "Empty the log for good?", "its log would be emptied"}, nil
}

// clearContext takes everything said in s out of its context. The error wraps
// skein.ErrLocked if another program works on it.
func (j *job) clearContext(ctx context.Context, s skein.Session) (err error) {
	lease, err := skein.LeasesOf(j.store).Acquire(ctx, s.ID, skein.LeaseRequest{Program: "skein clear"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, skein.LeasesOf(j.store).Release(context.WithoutCancel(ctx), lease)) }()
	e := skein.NewEvent(skein.KindRewound, skein.At(j.Now()), skein.Rewound{})
	_, err = j.store.Append(ctx, skein.Batch{Session: s.ID, Fence: lease.Fence, Events: []skein.Event{e}})
	if err == nil {
		j.catchUp(ctx, &s)
	}
	return err
}

// clearLog empties the log of s for good. The store is told first, so that the
// lines are not written again.
func (j *job) clearLog(ctx context.Context, s skein.Session) error {
	if _, err := j.logOf(ctx, s); err != nil {
		return err
	}
	if _, err := skein.Add(ctx, j.store, s.ID, sessionlog.ClearedEvent(skein.At(j.Now()))); err != nil {
		return err
	}
	return sessionlog.Empty(j.logDir(), s.User, s.ID)
}
