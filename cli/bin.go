package cli

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// gone reports whether err says that the session does not exist (any more).
func gone(err error) bool { return errors.Is(err, skein.ErrNotFound) }

// binned returns the one session in the bin that name means.
func (j *job) binned(ctx context.Context, name string) (skein.Session, error) {
	s, err := lookup.Resolve(ctx, j.store, name, skein.Filter{Bin: true})
	switch {
	case gone(err):
		return s, advise(missing("no session %q in the bin", name), "see what is in the bin: skein list --all --bin")
	case err == nil && s.Binned == 0:
		return s, advise(missing("session %q is not in the bin", called(s)), "see what is in the bin: skein list --all --bin")
	}
	return s, err
}

// sessionOrBinned returns the one session that name means: one that is not in the
// bin, if there is one, else one in the bin.
func (j *job) sessionOrBinned(ctx context.Context, name string) (skein.Session, error) {
	s, err := j.session(ctx, name)
	if !gone(err) {
		return s, err
	}
	if b, berr := lookup.Resolve(ctx, j.store, name, skein.Filter{Bin: true}); !gone(berr) {
		return b, berr
	}
	return s, err
}

// called returns a short name for s to use in a sentence, without quotes around it.
func called(s skein.Session) string {
	s = secretsShown(false).curtain().session(s)
	return cut(render.Line(s.Name()), 50)
}
