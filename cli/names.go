package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// session returns the one session that a person means by name, as [lookup.Resolve]
// does; - or last is the newest one of this project. Sessions that agents started
// are considered last: their first words are often their parent's.
//
// The error wraps skein.ErrAmbiguous or skein.ErrNotFound.
func (j *job) session(ctx context.Context, name string) (skein.Session, error) {
	if meansNewest(name) {
		return j.newestOrCalled(ctx, name)
	}
	s, err := lookup.Resolve(ctx, j.store, name, skein.Filter{NoChildren: true})
	if errors.Is(err, skein.ErrNotFound) {
		s, err = lookup.Resolve(ctx, j.store, name, skein.Filter{})
	}
	if errors.Is(err, skein.ErrNotFound) {
		return s, j.noSession(ctx, name)
	}
	if several := (*skein.AmbiguousError)(nil); errors.As(err, &several) {
		return s, several // it includes the name
	}
	return s, err
}

// meansNewest reports whether name is a word for the newest session.
func meansNewest(name string) bool { return name == "-" || name == "last" }

// newestOrCalled returns the newest session of this project, and says which others
// have the word, such as last, as their title or key. If the project has no
// session, it returns one of those.
func (j *job) newestOrCalled(ctx context.Context, word string) (skein.Session, error) {
	newest, err := j.newest(ctx)
	if err != nil && !gone(err) {
		return newest, err
	}
	others, lookErr := j.reallyCalled(ctx, word, newest.ID)
	switch {
	case lookErr != nil || len(others) == 0:
		return newest, errors.Join(err, lookErr)
	case err == nil:
		j.say("%q means the newest session, %s; what is called so can be named by its ID:\n%s", word, shortID(newest.ID), candidates(others, j.Now()))
		return newest, nil
	case len(others) > 1:
		return newest, &skein.AmbiguousError{Name: word, Candidates: others}
	}
	return others[0], nil
}

// reallyCalled returns the sessions, except the one with ID but, whose title or key
// is word, at most lookup.MaxCandidates.
func (j *job) reallyCalled(ctx context.Context, word string, but skein.SessionID) (all []skein.Session, err error) {
	for _, f := range []skein.Filter{{Title: word}, {Key: word}} {
		f.IncludeEmpty = true
		for s, err := range j.store.Sessions(ctx, f) {
			if err != nil || len(all) == lookup.MaxCandidates {
				return all, err
			}
			if (s.Title == word || s.Key == word) && s.ID != but && !slices.ContainsFunc(all, func(t skein.Session) bool { return t.ID == s.ID }) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// newest returns the newest session of this project.
func (j *job) newest(ctx context.Context) (skein.Session, error) {
	project, err := j.projectOf("")
	if err != nil {
		return skein.Session{}, err
	}
	found, err := j.sessions(ctx, skein.Filter{Project: project, NoChildren: true, Limit: 1})
	if err != nil {
		return skein.Session{}, err
	}
	if len(found) == 0 {
		return skein.Session{}, missing("no session in %s yet", j.tilde(project))
	}
	return found[0], nil
}

// exact returns the session with the ID or key name, matched exactly.
func (j *job) exact(ctx context.Context, name string) (skein.SessionID, error) {
	if id := skein.SessionID(name); id.Check() == nil {
		if s, err := j.store.Session(ctx, id); !errors.Is(err, skein.ErrNotFound) {
			return s.ID, err
		}
	}
	found, err := j.sessions(ctx, skein.Filter{Key: name, Limit: 1, IncludeEmpty: true})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", missing("no session with the ID or key %q", name)
	}
	return found[0].ID, nil
}

// shortID returns a short form of id, for use outside lists: its end, if that is
// random; else all of it, as other IDs may begin in the same way.
func shortID(id skein.SessionID) string {
	if short := lookup.ShortIDs([]skein.SessionID{id})[0]; strings.HasSuffix(string(id), short) {
		return short
	}
	return string(id)
}

// shortIDs returns what to show for each of ss.
func shortIDs(ss []skein.Session) []string {
	ids := make([]skein.SessionID, len(ss))
	for i := range ss {
		ids[i] = ss[i].ID
	}
	return lookup.ShortIDs(ids)
}

// noSession returns the error that no session has this name, with suggestions.
func (j *job) noSession(ctx context.Context, name string) error {
	binned, lookErr := lookup.Resolve(ctx, j.store, name, skein.Filter{Bin: true})
	switch {
	case lookErr == nil:
		return advise(missing("the session %q is in the bin", called(binned)), "bring it back: skein restore %s", shortID(binned.ID))
	case errors.Is(lookErr, skein.ErrAmbiguous):
		return advise(missing("sessions with %q in their names are in the bin", name), "see them: skein list --all --bin")
	case !gone(lookErr):
		return lookErr
	}
	err := missing("no session %q", name)
	found, lookErr := j.sessions(ctx, skein.Filter{NoChildren: true, Limit: 500})
	if lookErr != nil {
		return errors.Join(err, lookErr)
	}
	near := nearest(name, found)
	if len(near) == 0 {
		return err
	}
	return advise(err, "did you mean:\n%s", candidates(near, j.Now()))
}

// nearest returns up to three of ss with names like name.
func nearest(name string, ss []skein.Session) (near []skein.Session) {
	type scored struct {
		s     skein.Session
		score float64
	}
	var all []scored
	for _, s := range ss {
		id := string(s.ID)
		score := max(alike(name, s.Name()), alike(name, s.Key), alike(name, id[:min(len(id), 8)]), alike(name, shortID(s.ID)))
		if score > 0.6 {
			all = append(all, scored{s, score})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return int(1e6 * (b.score - a.score)) })
	for _, a := range all[:min(len(all), 3)] {
		near = append(near, a.s)
	}
	return near
}

// alike returns the share of the letter pairs of a that are also in b: 0 to 1.
func alike(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	shared, pairs := 0, max(len(a)-1, 1)
	for i := range len(a) - 1 {
		if strings.Contains(b, a[i:i+2]) {
			shared++
		}
	}
	return float64(shared) / float64(pairs)
}

// candidates returns a line about each of ss, to choose from.
func candidates(ss []skein.Session, now time.Time) string {
	var b strings.Builder
	for i, id := range shortIDs(ss) {
		fmt.Fprintf(&b, "  %s  %s  (%s)\n", id, cut(render.Line(ss[i].Name()), 50), ago(ss[i].Updated, now))
	}
	return strings.TrimRight(b.String(), "\n")
}

// writeCandidates prints what an ambiguous name could mean.
func writeCandidates(w io.Writer, err error, now time.Time) {
	if a := (*skein.AmbiguousError)(nil); errors.As(err, &a) {
		fmt.Fprintln(w, candidates(a.Candidates, now))
		if a.More {
			fmt.Fprintln(w, "  …")
		}
	}
}
