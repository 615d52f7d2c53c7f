package thread

import (
	"context"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// A ProjectMove says that a project is in another folder now.
type ProjectMove struct {
	From, To string                   // clean absolute paths
	DryRun   bool                     // nothing is changed
	Each     func(MovedSession) error // called for each session that was moved; may be nil
}

// A MovedSession is a session that was moved, in JSON.
type MovedSession struct {
	ID      skein.SessionID `json:"id"`
	Project string          `json:"project"`
	Cwd     string          `json:"cwd,omitempty"`
	Key     string          `json:"key,omitempty"`
}

// Do moves the sessions of the project, and of those below it, and returns how many.
//
// Errors are those of Each and of the store.
func (m ProjectMove) Do(ctx context.Context, j *job.Job) (done int, err error) {
	var all []skein.Session
	for s, err := range j.Store.Sessions(ctx, skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			return 0, err
		}
		if _, below := inside(s.Project, m.From); below {
			all = append(all, s)
		}
	}
	for _, s := range all {
		is, err := m.one(ctx, j, s)
		if err != nil {
			return done, fault.Advise(err, "%d of %d sessions were moved; the same command moves the others", done, len(all))
		}
		if done++; m.Each != nil {
			if err := m.Each(is); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// one moves a session with its thread and its folder.
func (m ProjectMove) one(ctx context.Context, j *job.Job, s skein.Session) (MovedSession, error) {
	below, _ := inside(s.Project, m.From)
	is := MovedSession{s.ID, filepath.Join(m.To, below), s.Cwd, s.Key}
	if rest, in := inside(s.Cwd, m.From); in {
		is.Cwd = filepath.Join(m.To, rest)
	}
	key, err := keyAt(ctx, j, s, is.Project)
	if err != nil || m.DryRun {
		return is, err
	}
	c := skein.Changed{Project: &is.Project, Cwd: &is.Cwd}
	if key != s.Key {
		c.Key, is.Key = &key, key
	}
	if found, at := j.Here(is.Project); at == is.Project {
		found.Branch, found.Commit = s.Checkout.Branch, s.Checkout.Commit
		c.Checkout = s.Checkout.Recorded().Filled(found).Known()
	}
	_, err = skein.Add(ctx, j.Store, s.ID, skein.NewEvent(skein.KindChanged, skein.At(j.Now()), c))
	return is, err
}

// inside returns the path of a folder below another, and whether it is there.
func inside(folder, of string) (rest string, is bool) {
	if folder == "" {
		return "", false
	}
	rest, err := filepath.Rel(of, folder)
	return rest, err == nil && filepath.IsLocal(rest)
}

// followed moves the sessions of the project along, if its folder was renamed and the
// person says so; where nobody can be asked, it says what to type. It reports whether it
// moved any.
//
// Errors are those of asking and of the store.
func (o *Options) followed(ctx context.Context, j *job.Job, at Selection, f Face) (bool, error) {
	tell := f.Tell
	if tell == nil {
		tell = j.Say
	}
	was, err := sessions.Moved(ctx, j, at.user(), at.Project())
	if err != nil || !was.Sure || f.Ask == nil || !j.Terminal.In {
		was.Hint(j, tell)
		return false, err
	}
	answer, err := f.Ask(ctx, job.Question{Text: render.Line("This folder was " + j.Tilde(was.From) + " before. Take the sessions of that along?")})
	if err != nil || answer == job.No {
		return false, err
	}
	n, err := ProjectMove{From: was.From, To: at.Project()}.Do(ctx, j)
	if n > 0 {
		tell("%s of %s now belong to %s", terminal.Count(n, "session"), j.Tilde(was.From), j.Tilde(at.Project()))
	}
	return n > 0, err
}
