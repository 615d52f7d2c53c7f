package trace

import (
	"context"
	"errors"

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
	if errors.Is(err, skein.ErrNotFound) {
		err = fault.Advise(err, "run the command in the folder of a repository")
	}
	return &maskedTracer{t, j, hide}, err
}

// session returns a session to show; an empty one with its ID if it was deleted meanwhile.
func (t *maskedTracer) session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	x, err := t.Session(ctx, id)
	if err != nil || x == nil {
		return skein.Session{ID: id}, err
	}
	return t.hide.Session(*x), nil
}
