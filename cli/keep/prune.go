package keep

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

type pruneOptions struct {
	olderThan, largerThan   string
	keepPinned, purge, json bool
	job.Consent
}

// NewPrune returns the command prune.
func NewPrune(f *job.Frame) *cobra.Command {
	var o pruneOptions
	c := &cobra.Command{
		Use:   "prune [--older-than AGE] [--larger-than SIZE] [flags]",
		Short: "put old or large sessions in the bin, or empty it",
		Long: `List the sessions that are older and larger than you say, and how much disk
space they use, then put them in the bin, from which skein restore brings them
back. --purge destroys them instead, including those in the bin, and frees the
disk space; --purge alone empties the bin. Nothing happens until you confirm, on
the terminal or with --yes. skein never prunes by itself. A session that is in
use is not destroyed.`,
		Example: `skein prune --older-than 30d --keep-pinned
	skein prune --larger-than 1GB
	skein prune --purge --yes`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	g := c.Flags()
	g.StringVar(&o.olderThan, "older-than", "", "only sessions that were inactive for this `age`, such as 30d or 12w, or since a date, such as 2026-11-21")
	g.StringVar(&o.largerThan, "larger-than", "", "only sessions that use more than this `size` on disk, such as 500MB or 1GB")
	g.BoolVar(&o.keepPinned, "keep-pinned", false, "leave pinned sessions alone")
	g.BoolVar(&o.purge, "purge", false, "destroy the sessions; this cannot be undone")
	o.Flags(c)
	f.WideFlag(c)
	job.JSONFlag(c, &o.json)
	return c
}

// A pruned is a session that prune found, in JSON.
type pruned struct {
	ID      skein.SessionID `json:"id"`
	Name    string          `json:"name"`
	Updated skein.Time      `json:"updated_at,omitzero"`
	Bytes   int64           `json:"bytes"`
	Pinned  bool            `json:"pinned"`
	Binned  bool            `json:"binned"` // already in the bin
	Done    string          `json:"done"`   // binned, destroyed, or "" if it was only shown
	session skein.Session
}

func (o *pruneOptions) run(ctx context.Context, j *job.Job, _ []string) error {
	found, err := o.find(ctx, j)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		j.Say("nothing to prune")
		return nil
	}
	if !o.json {
		if err := o.show(ctx, j, found); err != nil {
			return err
		}
	}
	yes, err := o.agreed(ctx, j, found)
	if yes {
		err = o.do(ctx, j, found)
	}
	if o.json {
		for _, p := range found {
			if err := job.WriteJSON(j.Stdout, p); err != nil {
				return err
			}
		}
	}
	return err
}

// find returns the sessions that match the options.
func (o *pruneOptions) find(ctx context.Context, j *job.Job) ([]pruned, error) {
	f := skein.Filter{IncludeEmpty: true}
	var err error
	if o.olderThan != "" {
		if f.Until, err = search.ParseSince(o.olderThan, j.Now()); err != nil {
			return nil, fault.Usage("--older-than %q: want an age like 30d or 12w, or a date like 2026-11-21", o.olderThan)
		}
	}
	if o.largerThan != "" {
		size, ok := terminal.ParseBytes(o.largerThan)
		if !ok {
			return nil, fault.Usage("--larger-than %q: want a size like 500MB or 1.5GB", o.largerThan)
		}
		f.LargerThan = size
	}
	conditions := o.olderThan != "" || o.largerThan != ""
	if !conditions && !o.purge {
		return nil, fault.Usage("prune what? --older-than 30d, --larger-than 1GB, or --purge alone to empty the bin")
	}
	var out []pruned
	if conditions {
		if out, err = o.add(ctx, j, out, f); err != nil {
			return nil, err
		}
	}
	if o.purge {
		f.Bin = true
		return o.add(ctx, j, out, f)
	}
	return out, nil
}

func (o *pruneOptions) add(ctx context.Context, j *job.Job, out []pruned, f skein.Filter) ([]pruned, error) {
	found, err := sessions.Matching(ctx, j, f)
	if err != nil {
		return nil, err
	}
	for _, s := range sessions.Secrets(false).Mask().Sessions(found) {
		if s.Pinned && o.keepPinned {
			continue
		}
		p := pruned{ID: s.ID, Name: s.Name(), Updated: s.Updated, Pinned: s.Pinned, Binned: s.Binned != 0, session: s}
		if p.Bytes, err = skein.LifecycleOf(j.Store).Size(ctx, s.ID); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (o *pruneOptions) show(ctx context.Context, j *job.Job, found []pruned) error {
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "ID", Rank: 1, Paint: j.Paint.Cyan},
		{Title: "", Rank: 4},
		{Title: "TITLE", Rank: 0, Min: 16},
		{Title: "UPDATED", Rank: 3, Paint: j.Paint.Dim},
		{Title: "SIZE", Rank: 2, Right: true},
		{Title: "WHERE", Rank: 5},
		{Title: "PROJECT", Rank: 6, Min: 14, Left: true},
		{Title: "MSGS", Rank: 7, Right: true},
		{Title: "FORKS", Rank: 8}, // forks, which keep what they show
	}}
	if o.olderThan != "" { // then the time matters more than the size
		t.Columns[3].Rank, t.Columns[4].Rank = 2, 3
	}
	ids := make([]skein.SessionID, len(found))
	for i, p := range found {
		ids[i] = p.ID
	}
	for i, id := range lookup.ShortIDs(ids) {
		p, where := found[i], ""
		if p.Binned {
			where = "in the bin"
		}
		row := []string{id, sessions.Marks(&p.session), render.Line(p.Name), terminal.Ago(p.Updated, j.Now()), terminal.BytesText(p.Bytes), where, "", "", ""}
		if o.purge {
			forks, err := sessions.ForksOf(ctx, j, p.ID)
			if err != nil {
				return err
			}
			row[6], row[7] = render.Line(j.Tilde(p.session.Project)), strconv.Itoa(p.session.Messages)
			row[8] = strings.Join(lookup.ShortIDs(forks), " ")
		}
		t.Rows = append(t.Rows, row)
	}
	return j.Table(j.Stdout, t)
}

// agreed reports whether the person agreed, in advance or when asked. Moving
// sessions to the bin needs no answer if nobody can be asked.
func (o *pruneOptions) agreed(ctx context.Context, j *job.Job, found []pruned) (bool, error) {
	would, question := "would go to the bin", "put them in the bin"
	if o.purge {
		would, question = "would be destroyed", "destroy them for good"
	}
	var bytes int64
	for _, p := range found {
		bytes += p.Bytes
	}
	these := fmt.Sprintf("%s, %s", terminal.Count(len(found), "session"), terminal.BytesText(bytes))
	l := job.Destruction{Question: these + ": " + question + "?", Would: these + ", " + would}
	if !o.purge && !o.Yes && !o.DryRun && !j.Terminal.In {
		j.Say("%s; nothing was done: --yes does it", l.Would)
		return false, nil
	}
	return o.Given(ctx, j, func() (job.Destruction, error) {
		for _, p := range found {
			if o.json { // otherwise a table has shown them
				l.Lines = append(l.Lines, sessions.Describe(j, &p.session, nil))
			}
		}
		return l, nil
	})
}

// do bins or destroys what was found, and says how much. A session that is in use,
// or that somebody else has pruned meanwhile, does not stop it.
func (o *pruneOptions) do(ctx context.Context, j *job.Job, found []pruned) error {
	var bytes int64
	var done int
	var busy []error
	for i := range found {
		p := &found[i]
		freed, err := o.prune(ctx, j, p)
		switch {
		case errors.Is(err, skein.ErrLocked):
			busy = append(busy, fmt.Errorf("%s: %w", sessions.ShortID(p.ID), err))
			continue
		case sessions.Gone(err):
			continue
		case err != nil:
			return err
		}
		done++
		bytes += freed
	}
	if o.purge {
		j.Say("destroyed %s; about %s are free again", terminal.Count(done, "session"), terminal.BytesText(bytes))
	} else {
		j.Say("put %s (%s) in the bin\nbring one back: skein restore NAME; free the disk space: skein prune --purge", terminal.Count(done, "session"), terminal.BytesText(bytes))
	}
	return errors.Join(busy...)
}

// prune puts p into the bin, or destroys it. It returns the size in bytes.
func (o *pruneOptions) prune(ctx context.Context, j *job.Job, p *pruned) (int64, error) {
	if !o.purge {
		err := skein.LifecycleOf(j.Store).Bin(ctx, p.ID)
		if err == nil {
			p.Done = "binned"
		}
		return p.Bytes, err
	}
	d, err := skein.LifecycleOf(j.Store).Delete(ctx, p.ID, skein.Deletion{})
	if err == nil {
		p.Done = "destroyed"
		err = sessionlog.Remove(sessions.LogDir(j), p.session.User, p.ID)
	}
	return d.Bytes, err
}
