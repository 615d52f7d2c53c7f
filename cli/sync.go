package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

type syncOptions struct {
	all  string
	json bool
}

func newSync(f *frame) *cobra.Command {
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
		Args: words(0, 1, "the NAME of a session"),
		RunE: f.withStore(o.run),
	}
	c.Flags().StringVar(&o.all, "all", "", "sync every session that came from this `format`")
	jsonFlag(c, &o.json)
	fixed(c, "all", agentFormats()...)
	return c
}

func (o *syncOptions) run(ctx context.Context, j *job, args []string) error {
	switch {
	case o.all == "" && len(args) == 0:
		return usagef("sync needs the NAME of a session, or --all FORMAT")
	case o.all != "" && len(args) > 0:
		return usagef("--all and %q do not go together", args[0])
	case o.all != "":
		return o.every(ctx, j)
	}
	s, err := j.session(ctx, args[0])
	if err != nil {
		return err
	}
	var name string
	if s.Origin != nil {
		name = s.Origin.Format
	} else if name, err = j.filedAs(ctx, s.ID); err != nil {
		return err
	}
	if name == "" {
		return advise(usagef("session %s was not imported from a file", shortID(s.ID)), "write it as another agent's: skein handoff %s --to FORMAT", shortID(s.ID))
	}
	f, err := formatNamed("the format that it came from,", name)
	if err != nil {
		return err
	}
	return o.one(ctx, j, f, s.ID)
}

// every writes back all sessions of a format: those that were imported from its
// files, and those that were exported to it and read again. If one cannot be
// written, it continues with the others.
func (o *syncOptions) every(ctx context.Context, j *job) error {
	f, err := formatNamed("--all", o.all)
	if err != nil {
		return err
	}
	ids, err := j.filed(ctx, f.Name)
	if err != nil {
		return err
	}
	failed, damaged := 0, false
	for _, id := range ids {
		err := o.one(ctx, j, f, id)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errSilent):
			damaged = true
		case err != nil:
			j.say("skein: %v", err)
			if a := (*advised)(nil); errors.As(err, &a) {
				j.say("%s", a.hint)
			}
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s not written back", failed, count(len(ids), "session"))
	}
	if damaged {
		return errSilent
	}
	return nil
}

// filed returns the sessions that files of a format hold, in the order of the
// files.
func (j *job) filed(ctx context.Context, format string) (ids []skein.SessionID, err error) {
	seen := map[skein.SessionID]bool{"": true}
	for f, err := range skein.SourcesOf(j.store).Files(ctx, format) {
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

// filedAs returns the format of the file that holds session id, although the
// session did not come from there: it was exported to that format and read again.
func (j *job) filedAs(ctx context.Context, id skein.SessionID) (string, error) {
	for _, f := range formats() {
		ids, err := j.filed(ctx, f.Name)
		if err != nil || slices.Contains(ids, id) {
			return f.Name, err
		}
	}
	return "", nil
}

func (o *syncOptions) one(ctx context.Context, j *job, f interop.Format, id skein.SessionID) error {
	done, err := interop.Sync(ctx, j.store, f, id)
	if err != nil {
		if errors.Is(err, interop.ErrChanged) {
			return advise(err, "see both lines: skein tree %s", shortID(id))
		}
		if errors.Is(err, skein.ErrNotFound) {
			return advise(err, "write it there anew: skein handoff %s --to %s", shortID(id), f.Name)
		}
		return adviseExport(err, f)
	}
	if o.json {
		err = writeJSON(j.Stdout, done)
	} else {
		tellSynced(j, f, done)
	}
	if err == nil && len(done.Damaged) > 0 {
		err = errSilent
	}
	return err
}

// tellSynced says what was written.
func tellSynced(j *job, f interop.Format, done interop.Synced) {
	what := "nothing new for " + j.tilde(done.Path)
	if done.Events > 0 {
		what = fmt.Sprintf("wrote %s to %s", count(done.Events, "event"), j.tilde(done.Path))
	}
	j.say("%s", strings.Join(append([]string{shortID(done.Session) + ": " + what}, lossLines(f, done.Losses, "stays here")...), "\n"))
	j.tellDamaged(done.Damaged)
}
