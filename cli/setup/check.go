package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/internal/hooknews"
)

// takeBack undoes what the journal says of the changes that are wanted, the last first.
func (o *options) takeBack(ctx context.Context, j *job.Job, done *journal, wanted func(*fileEdit) bool) error {
	var all []setupStep
	left := done.All[:0:0]
	for _, d := range slices.Backward(slices.Clone(done.All)) {
		if !wanted(&d.fileEdit) {
			left = append(left, d)
			continue
		}
		s := setupStep{Agent: d.Agent, What: d.What, Path: d.Path, State: takenBack}
		if o.DryRun {
			s.State = toDo
			all = append(all, s)
			continue
		}
		var err error
		if d.What == "service" {
			if m, merr := o.machine(j); merr == nil {
				if w, werr := watcher(ctx, m, execute); werr == nil {
					err = runAll(ctx, w.stop)
				}
			}
		}
		if err := errors.Join(err, d.undo()); err != nil {
			s.State, s.Error = failed, err.Error()
			left = append(left, d)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		j.Say("there is nothing to take back")
		return nil
	}
	if !o.DryRun {
		slices.Reverse(left)
		if done.All = left; done.save() != nil {
			return done.save()
		}
	}
	return o.show(j, all)
}

// checked returns what was done, how it stands now, and when the newest session of
// each agent was last active. The error is that of the store.
func (o *options) checked(ctx context.Context, j *job.Job, done *journal) (all []setupStep, err error) {
	if err := j.Begin(ctx); err != nil {
		return nil, job.Unopened(j, err)
	}
	defer func() { err = errors.Join(err, j.Whole.Close()) }()
	for _, d := range done.All {
		s := setupStep{Agent: d.Agent, What: d.What, Path: d.Path, Since: skein.At(d.At)}
		is, lerr := d.look()
		if s.State = string(is); lerr != nil {
			s.State, s.Error = failed, lerr.Error()
		}
		if d.What == "service" && lerr == nil && is == inPlace && !o.running(ctx, j) {
			s.State = stopped
		}
		if d.Agent != "" && d.Agent != gitPart {
			for x, err := range j.Store.Sessions(ctx, skein.Filter{Origin: d.Agent, Limit: 1}) {
				if err != nil {
					return all, err
				}
				s.Last = x.Updated
			}
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		j.Say("setup has done nothing here")
	}
	return append(all, watches(j)...), heardOf(j, all)
}

// watches returns how the watch gets on, as a step; none if there never was one.
func watches(j *job.Job) []setupStep {
	b := hooknews.At(j.Dirs.State)
	s, known, err := b.Status()
	if err != nil {
		return []setupStep{{What: "watch", State: failed, Error: err.Error()}}
	}
	if !known {
		return nil
	}
	w := setupStep{What: "watch", State: "ended", Since: skein.At(s.Since)}
	switch {
	case b.Watched() && s.Ready:
		w.State = "running"
	case b.Watched():
		w.State = fmt.Sprintf("importing, %d%%", s.Bytes*100/max(s.Size, 1))
	}
	if !s.At.IsZero() {
		w.Last = skein.At(s.At)
	}
	if s.Broke != "" {
		w.Broke = fmt.Sprintf("%s: %s", terminal.Ago(skein.At(s.When), j.Now()), s.Broke)
	}
	return []setupStep{w}
}

// heardOf enters when a hook of each agent last told something. The error is the file
// system's.
func heardOf(j *job.Job, all []setupStep) error {
	news, err := hooknews.At(j.Dirs.State).All()
	for i := range all {
		if all[i].What != hooks {
			continue
		}
		all[i].Last = 0
		if at := slices.IndexFunc(news, func(n hooknews.News) bool { return n.Agent == all[i].Agent }); at >= 0 {
			all[i].Last = skein.At(news[at].At)
		}
	}
	return err
}

// running reports whether the service runs.
func (o *options) running(ctx context.Context, j *job.Job) bool {
	m, err := o.machine(j)
	if err != nil {
		return false
	}
	w, err := watcher(ctx, m, execute)
	return err == nil && runAll(ctx, w.look) == nil
}

// show prints the steps. The error says if one failed.
func (o *options) show(j *job.Job, all []setupStep) error {
	bad := 0
	for _, s := range all {
		if s.Error != "" && s.State != impossible || s.State == stopped || s.State == string(partly) || s.State == string(missing) {
			bad++
		}
	}
	if o.json {
		for _, s := range all {
			if err := job.WriteJSON(j.Stdout, s); err != nil {
				return err
			}
		}
	} else if err := o.table(j, all); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d are not in place", bad, len(all))
	}
	return nil
}

func (o *options) table(j *job.Job, all []setupStep) error {
	t := &terminal.Table{Columns: []terminal.Column{{Title: "AGENT"}, {Title: "WHAT"}, {Title: "STATE", Rank: 1}, {Title: "LAST", Rank: 3}, {Title: "WHERE", Rank: 2, Min: 20, Whole: true}}}
	for _, s := range all {
		where := j.Tilde(s.Path)
		if s.Error != "" {
			where = strings.TrimPrefix(where+": ", ": ") + s.Error
		}
		if s.Broke != "" {
			where = strings.TrimPrefix(where+"; ", "; ") + "broke " + s.Broke
		}
		last := ""
		if s.Last != 0 {
			last = terminal.Ago(s.Last, j.Now())
		}
		t.Rows = append(t.Rows, []string{cmp.Or(s.Agent, "skein"), s.What, s.State, last, where})
	}
	return j.Table(j.Stdout, t)
}
