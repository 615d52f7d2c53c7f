package keep

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
)

type clearOptions struct {
	context, log, json bool
	job.Consent
}

// NewClear returns the command clear.
func NewClear(f *job.Frame) *cobra.Command {
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
		Args: job.Words(1, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().BoolVar(&o.context, "context", false, "begin the session's context afresh")
	c.Flags().BoolVar(&o.log, "log", false, "empty the session's log")
	o.Flags(c)
	job.JSONFlag(c, &o.json)
	return c
}

// A clearedLine says in JSON what was cleared.
type clearedLine struct {
	ID      skein.SessionID `json:"id"`
	Context bool            `json:"context"`
	Log     bool            `json:"log"`
}

func (o *clearOptions) run(ctx context.Context, j *job.Job, args []string) error {
	if !o.context && !o.log {
		return fault.Usage("clear what? --context, --log, or both")
	}
	find := func(name string) (skein.Session, error) {
		if o.log && !o.DryRun {
			return sessions.ToDestroy(ctx, j, name)
		}
		return sessions.Named(ctx, j, name)
	}
	s, err := find(args[0])
	if err != nil {
		return err
	}
	if o.log || o.DryRun {
		if ok, err := o.Given(ctx, j, func() (job.Destruction, error) { return o.loss(ctx, j, &s) }); !ok {
			return err
		}
	}
	if o.context {
		if err := clearContext(ctx, j, s); err != nil {
			return err
		}
	}
	if o.log {
		if err := clearLog(ctx, j, s); err != nil {
			return err
		}
	}
	if o.json {
		return job.WriteJSON(j.Stdout, clearedLine{s.ID, o.context, o.log})
	}
	if o.context {
		j.Say("cleared the context of %s %q; no message is lost", sessions.ShortID(s.ID), sessions.Called(s))
	}
	if o.log {
		j.Say("emptied the log of %s %q", sessions.ShortID(s.ID), sessions.Called(s))
	}
	return nil
}

// loss names the session, and says how much of it would be cleared.
func (o *clearOptions) loss(ctx context.Context, j *job.Job, s *skein.Session) (job.Destruction, error) {
	if !o.log {
		return job.Destruction{Lines: []string{sessions.Describe(j, s, nil)}, Would: "its context would be cleared; no message would be lost"}, nil
	}
	path, err := sessions.LogOf(ctx, j, *s)
	if err != nil {
		return job.Destruction{}, err
	}
	return job.Destruction{Lines: []string{sessions.Describe(j, s, nil), "its log: " + j.Tilde(path)}, Question: "Empty the log for good?", Would: "its log would be emptied"}, nil
}

// clearContext takes everything said in s out of its context. The error wraps
// skein.ErrLocked if another program works on it.
func clearContext(ctx context.Context, j *job.Job, s skein.Session) (err error) {
	lease, err := skein.LeasesOf(j.Store).Acquire(ctx, s.ID, skein.LeaseRequest{Program: "skein clear"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, skein.LeasesOf(j.Store).Release(context.WithoutCancel(ctx), lease)) }()
	_, err = j.Store.Append(ctx, skein.Batch{Session: s.ID, Fence: lease.Fence, Events: s.Clearing(skein.At(j.Now()))})
	if err == nil {
		sessions.CatchUpLog(ctx, j, &s)
	}
	return err
}

// clearLog empties the log of s for good. The store is told first, so that the
// lines are not written again.
func clearLog(ctx context.Context, j *job.Job, s skein.Session) error {
	if _, err := sessions.LogOf(ctx, j, s); err != nil {
		return err
	}
	if _, err := skein.Add(ctx, j.Store, s.ID, sessionlog.ClearedEvent(skein.At(j.Now()))); err != nil {
		return err
	}
	return sessionlog.Empty(sessions.LogDir(j), s.User, s.ID)
}
