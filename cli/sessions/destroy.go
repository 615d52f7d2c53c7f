package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// ToDestroy returns the one session, in the bin or not, that name means, for a command
// that destroys it. A name that may mean something else tomorrow or in another
// folder is not enough: a part of a title, - or last.
//
// The error wraps fault.ErrUsage for those, skein.ErrAmbiguous or skein.ErrNotFound.
func ToDestroy(ctx context.Context, j *job.Job, name string) (skein.Session, error) {
	if !meansNewest(name) {
		s, err := lookup.ResolveWhole(ctx, j.Store, name, skein.Filter{})
		if Gone(err) {
			s, err = lookup.ResolveWhole(ctx, j.Store, name, skein.Filter{Bin: true})
		}
		if several := (*skein.AmbiguousError)(nil); errors.As(err, &several) {
			return s, several // the error includes the name
		}
		if !Gone(err) {
			return s, err
		}
	}
	meant, err := SessionOrBinned(ctx, j, name)
	several := (*skein.AmbiguousError)(nil)
	switch {
	case err == nil:
		several = &skein.AmbiguousError{Name: name, Candidates: []skein.Session{meant}}
		if meansNewest(name) {
			others, err := reallyCalled(ctx, j, name, meant.ID)
			if err != nil {
				return meant, err
			}
			several.Candidates = append(several.Candidates, others...)
		}
	case !errors.As(err, &several):
		return meant, err
	}
	return skein.Session{}, fault.Advise(fault.Usage("%q is not enough to destroy a session: give its ID, its key or its whole title", name),
		"did you mean:\n%s", Candidates(several.Candidates, j.Now()))
}

// Describe describes a session before it is destroyed: its name, its project, how many
// messages are stored of it, including those that its context no longer shows, and
// which forks keep parts of it.
func Describe(j *job.Job, s *skein.Session, forks []skein.SessionID) string {
	text := fmt.Sprintf("%s %q", ShortID(s.ID), Called(*s))
	if s.Project != "" {
		text += ", " + render.Line(j.Tilde(s.Project))
	}
	text += ", " + terminal.Count(s.Messages+s.Undone.Messages, "message")
	if n := s.Undone.Messages; n > 0 {
		text += fmt.Sprintf(", %d of them taken back or withdrawn", n)
	}
	if s.Binned != 0 {
		text += ", in the bin"
	}
	if s.Base > 0 {
		text += "; those that it shows of its parent stay"
	}
	if len(forks) > 0 {
		text += "; its forks keep what they show of it: " + strings.Join(lookup.ShortIDs(forks), " ")
	}
	return text
}

// ForksOf returns the forks of session id, including those in the bin.
//
// The error is that of the store.
func ForksOf(ctx context.Context, j *job.Job, id skein.SessionID) (forks []skein.SessionID, err error) {
	for _, bin := range []bool{false, true} {
		found, err := Matching(ctx, j, skein.Filter{Parent: id, Bin: bin, IncludeEmpty: true})
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			if s.Parent != nil && s.Parent.Why == skein.Fork {
				forks = append(forks, s.ID)
			}
		}
	}
	return forks, nil
}
