package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// manyMoved is how many of the newest sessions are searched for a project that was
// moved.
const manyMoved = 5000

// moved returns the newest session of user u whose project has the same name as
// this one and no longer exists, if this project has no session yet: its folder may
// have been moved here.
func (j *job) moved(ctx context.Context, u skein.User, project string) (was skein.Session, is bool, err error) {
	here, err := j.sessions(ctx, skein.Filter{User: u, Project: project, Limit: 1, IncludeEmpty: true})
	if err != nil || len(here) > 0 {
		return was, false, err
	}
	gone := map[string]bool{} // projects looked for on the disk
	for s, err := range j.store.Sessions(ctx, skein.Filter{User: u, NoChildren: true, Limit: manyMoved}) {
		if err != nil {
			return was, false, err
		}
		if s.Project == project || !filepath.IsAbs(s.Project) || filepath.Base(s.Project) != filepath.Base(project) {
			continue
		}
		if _, known := gone[s.Project]; !known {
			_, err := os.Lstat(s.Project)
			gone[s.Project] = errors.Is(err, fs.ErrNotExist)
		}
		if gone[s.Project] {
			return s, true, nil
		}
	}
	return was, false, nil
}

// hintMoved says what to type if this project may have been moved from elsewhere.
func (j *job) hintMoved(ctx context.Context, u skein.User, project string, tell func(string, ...any)) error {
	was, is, err := j.moved(ctx, u, project)
	if is {
		from := render.Line(j.tilde(was.Project))
		tell("was %s moved from %s, which is gone? go on in its newest session: skein chat -r %s --cwd .; see all: skein list --project %s",
			render.Line(j.tilde(project)), from, shellWord(shortID(was.ID)), shellWord(from))
	}
	return err
}
