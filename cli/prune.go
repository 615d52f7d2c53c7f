package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

type pruneOptions struct {
	olderThan, largerThan   string
	keepPinned, purge, json bool
	consent
}

func newPrune(f *frame) *cobra.Command {
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
		Args: words(0, 0, ""),
		RunE: f.withStore(o.run),

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	g := c.Flags()
	g.StringVar(&o.olderThan, "older-than", "", "only sessions that were inactive for this `age`, such as 30d or 12w, or since a date, such as 2026-11-21")
	g.StringVar(&o.largerThan, "larger-than", "", "only sessions that use more than this `size` on disk, such as 500MB or 1GB")
	g.BoolVar(&o.keepPinned, "keep-pinned", false, "leave pinned sessions alone")
	g.BoolVar(&o.purge, "purge", false, "destroy the sessions; this cannot be undone")
	o.flags(c)
	f.wideFlag(c)
	jsonFlag(c, &o.json)
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

func (o *pruneOptions) run(ctx context.Context, j *job, _ []string) error {
	found, err := o.find(ctx, j)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		j.say("nothing to prune")
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
			if err := writeJSON(j.Stdout, p); err != nil {
				return err
			}
		}
	}
	return err
}

// find returns the sessions that match the options.
func (o *pruneOptions) find(ctx context.Context, j *job) ([]pruned, error) {
	f := skein.Filter{IncludeEmpty: true}
	var err error
	if o.olderThan != "" {
		if f.Until, err = search.ParseSince(o.olderThan, j.Now()); err != nil {
			return nil, usagef("--older-than %q: want an age like 30d or 12w, or a date like 2026-11-21", o.olderThan)
		}
	}
	if o.largerThan != "" {
		size, ok := parseBytes(o.largerThan)
		if !ok {
			return nil, usagef("--larger-than %q: want a size like 500MB or 1.5GB", o.largerThan)
		}
		f.LargerThan = size
	}
	conditions := o.olderThan != "" || o.largerThan != ""
	if !conditions && !o.purge {
		return nil, usagef("prune what? --older-than 30d, --larger-than 1GB, or --purge alone to empty the bin")
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

func (o *pruneOptions) add(ctx context.Context, j *job, out []pruned, f skein.Filter) ([]pruned, error) {
	found, err := j.sessions(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, s := range found {
		if s.Pinned && o.keepPinned {
			continue
		}
		p := pruned{ID: s.ID, Name: s.Name(), Updated: s.Updated, Pinned: s.Pinned, Binned: s.Binned != 0, session: s}
		if p.Bytes, err = skein.LifecycleOf(j.store).Size(ctx, s.ID); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (o *pruneOptions) show(ctx context.Context, j *job, found []pruned) error {
	t := &table{columns: []column{
		{title: "ID", rank: 1, paint: j.paint.Cyan},
		{title: "", rank: 4},
		{title: "TITLE", rank: 0, min: 16, piped: pipedTitle},
		{title: "UPDATED", rank: 3, paint: j.paint.Dim},
		{title: "SIZE", rank: 2, right: true},
		{title: "WHERE", rank: 5},
		{title: "PROJECT", rank: 6, min: 14, left: true, piped: pipedText},
		{title: "MSGS", rank: 7, right: true},
		{title: "FORKS", rank: 8}, // forks, which keep what they show
	}}
	if o.olderThan != "" { // then the time matters more than the size
		t.columns[3].rank, t.columns[4].rank = 2, 3
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
		row := []string{id, marks(&p.session), render.Line(p.Name), ago(p.Updated, j.Now()), bytesText(p.Bytes), where, "", "", ""}
		if o.purge {
			forks, err := forksOf(ctx, j, p.ID)
			if err != nil {
				return err
			}
			row[6], row[7] = render.Line(j.tilde(p.session.Project)), strconv.Itoa(p.session.Messages)
			row[8] = strings.Join(lookup.ShortIDs(forks), " ")
		}
		t.rows = append(t.rows, row)
	}
	return j.table(j.Stdout, t)
}

// agreed reports whether the person agreed, in advance or when asked. Moving
// sessions to the bin needs no answer if nobody can be asked.
func (o *pruneOptions) agreed(ctx context.Context, j *job, found []pruned) (bool, error) {
	would, question := "would go to the bin", "put them in the bin"
	if o.purge {
		would, question = "would be destroyed", "destroy them for good"
	}
	var bytes int64
	for _, p := range found {
		bytes += p.Bytes
	}
	these := fmt.Sprintf("%s, %s", count(len(found), "session"), bytesText(bytes))
	l := loss{question: these + ": " + question + "?", would: these + ", " + would}
	if !o.purge && !o.yes && !o.dryRun && !j.Terminal.In {
		j.say("%s; nothing was done: --yes does it", l.would)
		return false, nil
	}
	return o.given(ctx, j, func() (loss, error) {
		for _, p := range found {
			if o.json { // otherwise a table has shown them
				l.lines = append(l.lines, j.named(&p.session, nil))
			}
		}
		return l, nil
	})
}

// do bins or destroys what was found, and says how much. A session that is in use,
// or that somebody else has pruned meanwhile, does not stop it.
func (o *pruneOptions) do(ctx context.Context, j *job, found []pruned) error {
	var bytes int64
	var done int
	var busy []error
	for i := range found {
		p := &found[i]
		freed, err := o.prune(ctx, j, p)
		switch {
		case errors.Is(err, skein.ErrLocked):
			busy = append(busy, fmt.Errorf("%s: %w", shortID(p.ID), err))
			continue
		case gone(err):
			continue
		case err != nil:
			return err
		}
		done++
		bytes += freed
	}
	if o.purge {
		j.say("destroyed %s; about %s are free again", count(done, "session"), bytesText(bytes))
	} else {
		j.say("put %s (%s) in the bin\nbring one back: skein restore NAME; give the disk back: skein prune --purge", count(done, "session"), bytesText(bytes))
	}
	return errors.Join(busy...)
}

// prune puts p into the bin, or destroys it. It returns the size in bytes.
func (o *pruneOptions) prune(ctx context.Context, j *job, p *pruned) (int64, error) {
	if !o.purge {
		err := skein.LifecycleOf(j.store).Bin(ctx, p.ID)
		if err == nil {
			p.Done = "binned"
		}
		return p.Bytes, err
	}
	d, err := skein.LifecycleOf(j.store).Delete(ctx, p.ID, skein.Deletion{})
	if err == nil {
		p.Done = "destroyed"
		err = sessionlog.Remove(j.logDir(), p.session.User, p.ID)
	}
	return d.Bytes, err
}
