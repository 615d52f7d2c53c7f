package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// A consent is what a command that destroys something for good needs first: a yes
// at the terminal, or --yes. Before that, it names what will be destroyed. With
// --dry-run it only names it.
type consent struct{ yes, dryRun bool }

func (o *consent) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do it without asking")
	c.Flags().BoolVarP(&o.dryRun, "dry-run", "n", false, "show what would be done, and do nothing")
}

// A loss is what will be destroyed.
type loss struct {
	lines    []string // names of what is destroyed
	question string   // "Destroy it for good?"
	would    string   // "it would be destroyed"
}

// given reports whether the person agrees to the destruction. It calls what only if
// what is destroyed has to be named.
//
// The error wraps errUsage if there is nobody to ask.
func (o *consent) given(ctx context.Context, j *job, what func() (loss, error)) (bool, error) {
	if o.yes && !o.dryRun {
		return true, nil
	}
	l, err := what()
	if err != nil {
		return false, err
	}
	for _, line := range l.lines {
		j.tell(line)
	}
	switch {
	case o.dryRun:
		j.say("nothing was done: %s", l.would)
		return false, nil
	case !j.Terminal.In:
		return false, advise(usagef("nothing was done: %s, and without a terminal to ask at that needs --yes", l.would), "see what it would do with --dry-run, do it with --yes")
	}
	answer, err := j.ask(ctx, question{text: l.question})
	if err == nil && answer != yes {
		j.say("nothing was done")
	}
	return answer == yes, err
}

// doomed returns the one session, in the bin or not, that name means, for a command
// that destroys it. A name that may mean something else tomorrow or in another
// folder is not enough: a part of a title, - or last.
//
// The error wraps errUsage for those, skein.ErrAmbiguous or skein.ErrNotFound.
func (j *job) doomed(ctx context.Context, name string) (skein.Session, error) {
	if !meansNewest(name) {
		s, err := lookup.ResolveWhole(ctx, j.store, name, skein.Filter{})
		if gone(err) {
			s, err = lookup.ResolveWhole(ctx, j.store, name, skein.Filter{Bin: true})
		}
		if several := (*skein.AmbiguousError)(nil); errors.As(err, &several) {
			return s, several // the error includes the name
		}
		if !gone(err) {
			return s, err
		}
	}
	meant, err := j.sessionOrBinned(ctx, name)
	several := (*skein.AmbiguousError)(nil)
	switch {
	case err == nil:
		several = &skein.AmbiguousError{Name: name, Candidates: []skein.Session{meant}}
		if meansNewest(name) {
			others, err := j.reallyCalled(ctx, name, meant.ID)
			if err != nil {
				return meant, err
			}
			several.Candidates = append(several.Candidates, others...)
		}
	case !errors.As(err, &several):
		return meant, err
	}
	return skein.Session{}, advise(usagef("%q is not enough to destroy a session: it wants the ID, the key or the whole title", name),
		"did you mean:\n%s", candidates(several.Candidates, j.Now()))
}

// named describes a session before it is destroyed: its name, its project, its
// size, and which forks keep parts of it.
func (j *job) named(s *skein.Session, forks []skein.SessionID) string {
	text := fmt.Sprintf("%s %q", shortID(s.ID), called(*s))
	if s.Project != "" {
		text += ", " + render.Line(j.tilde(s.Project))
	}
	text += ", " + count(s.Messages, "message")
	if s.Binned != 0 {
		text += ", in the bin"
	}
	if len(forks) > 0 {
		text += "; what its forks show of it stays with them: " + strings.Join(lookup.ShortIDs(forks), " ")
	}
	return text
}

// forksOf returns the forks of session id, including those in the bin.
func forksOf(ctx context.Context, j *job, id skein.SessionID) (forks []skein.SessionID, err error) {
	for _, bin := range []bool{false, true} {
		found, err := j.sessions(ctx, skein.Filter{Parent: id, Bin: bin, IncludeEmpty: true})
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
