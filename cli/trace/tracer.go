package trace

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/store/provenance"
)

// A maskedTracer is a provenance.Tracer whose sessions have their secrets hidden.
type maskedTracer struct {
	*provenance.Tracer
	job  *job.Job
	hide sessions.Mask
}

// open returns a tracer for the repository that a folder is in. The error wraps
// [skein.ErrNotFound] if there is none.
func open(ctx context.Context, j *job.Job, dir string, hide sessions.Mask) (*maskedTracer, error) {
	t, err := provenance.Open(ctx, j.Store, dir)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		err = fault.Advise(&fault.StatedError{Text: "this needs the program git, and it is not installed", Kind: err}, "install it from https://git-scm.com/downloads")
	case errors.Is(err, skein.ErrNotFound):
		err = fault.Advise(&fault.StatedError{Text: j.Tilde(dir) + " is not in a Git repository", Kind: err}, "run the command in the folder of a repository")
	case errors.Is(err, fs.ErrNotExist):
		err = &fault.StatedError{Text: "there is no folder " + j.Tilde(dir), Kind: err}
	}
	return &maskedTracer{t, j, hide}, err
}

// blamed asks whose lines are, and passes the answers to do. The error is that of asking,
// or do's.
func blamed(ctx context.Context, j *job.Job, q provenance.Question, hide sessions.Mask, do func(t *maskedTracer, r *provenance.Report, lines []line) error) (err error) {
	t, err := open(ctx, j, filepath.Dir(q.File), hide)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	r, err := t.Blame(ctx, q)
	if err != nil {
		return plainly(err)
	}
	lines, err := t.describe(ctx, r)
	if err != nil {
		return err
	}
	return do(t, r, lines)
}

// plainly returns what git refused without the name of its command, and what to do.
func plainly(err error) error {
	if text, is := strings.CutPrefix(fault.Sentence(err), "git blame: "); is {
		return fault.Advise(&fault.StatedError{Text: text, Kind: err}, "name a file that was committed, and lines that it has")
	}
	return err
}

// session returns a session to show; an empty one with its ID if it was deleted meanwhile.
func (t *maskedTracer) session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	x, err := t.Session(ctx, id)
	if err != nil || x == nil {
		return skein.Session{ID: id}, err
	}
	return t.hide.Session(*x), nil
}
