package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
)

type syncOptions struct {
	all  string
	json bool
}

// NewSync returns the command sync.
func NewSync(f *job.Frame) *cobra.Command {
	var o syncOptions
	c := &cobra.Command{
		Use:   "sync {NAME | --all FORMAT} [flags]",
		Short: "write new messages back to an agent's files",
		Long: `Write what is new in a session to the file that it was imported from, in the way
the agent itself writes it, so that the agent can continue from there. If the
file has changed since it was read, it is imported first. If both the file and
the session have new messages, nothing is written, and the messages of the file
become a fork of the session.

This is the only command that changes an agent's own files.`,
		Example: `skein sync last
	skein sync --all agentuse`,
		Args: job.Words(0, 1, "the NAME of a session"),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.all, "all", "", "sync every session that came from this `format`")
	job.JSONFlag(c, &o.json)
	job.Fixed(c, "all", exchange.OfAgents()...)
	return c
}

func (o *syncOptions) run(ctx context.Context, j *job.Job, args []string) error {
	switch {
	case o.all == "" && len(args) == 0:
		return fault.Usage("sync needs the NAME of a session, or --all FORMAT")
	case o.all != "" && len(args) > 0:
		return fault.Usage("--all and %q cannot be combined", args[0])
	case o.all != "":
		return o.every(ctx, j)
	}
	s, err := sessions.Named(ctx, j, args[0])
	if err != nil {
		return err
	}
	var name string
	if s.Origin != nil {
		name = s.Origin.Format
	} else if name, err = filedAs(ctx, j, s.ID); err != nil {
		return err
	}
	if name == "" {
		return fault.Advise(fault.Usage("session %s was not imported from an agent's file", sessions.ShortID(s.ID)), "write it as another agent's: skein handoff %s --to FORMAT", sessions.ShortID(s.ID))
	}
	f, err := exchange.Named("the format that it came from,", name)
	if err != nil {
		return err
	}
	return o.one(ctx, j, f, s.ID)
}

// every writes back all sessions of a format: those that were imported from its
// files, and those that were exported to it and read again. If one cannot be
// written, it continues with the others.
func (o *syncOptions) every(ctx context.Context, j *job.Job) error {
	f, err := exchange.Named("--all", o.all)
	if err != nil {
		return err
	}
	ids, err := filed(ctx, j, f.Name)
	if err != nil {
		return err
	}
	failed, damaged := 0, false
	for _, id := range ids {
		err := o.one(ctx, j, f, id)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fault.ErrSilent):
			damaged = true
		case err != nil:
			j.Say("skein: %v", err)
			if a := (*fault.AdvisedError)(nil); errors.As(err, &a) {
				j.Say("%s", a.Hint)
			}
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s not written back", failed, terminal.Count(len(ids), "session"))
	}
	if damaged {
		return fault.ErrSilent
	}
	return nil
}

// filed returns the sessions that files of a format hold, in the order of the
// files.
func filed(ctx context.Context, j *job.Job, format string) (ids []skein.SessionID, err error) {
	seen := map[skein.SessionID]bool{"": true}
	for f, err := range skein.SourcesOf(j.Store).Files(ctx, format) {
		if err != nil {
			return nil, err
		}
		if !seen[f.Session] {
			ids = append(ids, f.Session)
		}
		seen[f.Session] = true
	}
	return ids, nil
}

// filedAs returns the format of the agent's file that holds session id, although the
// session did not come from there: it was exported to that format and read again. The
// side file that was beside it is not the agent's.
func filedAs(ctx context.Context, j *job.Job, id skein.SessionID) (string, error) {
	for _, f := range exchange.All() {
		if f.Open == nil {
			continue
		}
		ids, err := filed(ctx, j, f.Name)
		if err != nil || slices.Contains(ids, id) {
			return f.Name, err
		}
	}
	return "", nil
}

func (o *syncOptions) one(ctx context.Context, j *job.Job, f interop.Format, id skein.SessionID) error {
	done, err := writeback.Sync(ctx, j.Store, f, id)
	if err != nil {
		if errors.Is(err, interop.ErrChanged) {
			return fault.Advise(err, "see both lines: skein tree %s", sessions.ShortID(id))
		}
		if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrInvalid) && f.Write != nil {
			return fault.Advise(err, "write it there again: skein handoff %s --to %s", sessions.ShortID(id), f.Name)
		}
		return exchange.AdviseExport(err, f)
	}
	if o.json {
		err = job.WriteJSON(j.Stdout, done)
	} else {
		exchange.TellSynced(j, f, done)
	}
	if err == nil && len(done.Damaged) > 0 {
		err = fault.ErrSilent
	}
	return err
}
