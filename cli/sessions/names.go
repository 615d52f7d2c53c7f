package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// Named returns the one session that a person means by name, as [lookup.Resolve]
// does; - or last is the newest one of this project. Sessions that agents started
// are considered last: their first words are often their parent's.
//
// The error wraps skein.ErrAmbiguous or skein.ErrNotFound.
func Named(ctx context.Context, j *job.Job, name string) (skein.Session, error) {
	if meansNewest(name) {
		return newestOrCalled(ctx, j, name)
	}
	s, err := lookup.Resolve(ctx, j.Store, name, skein.Filter{NoChildren: true})
	if errors.Is(err, skein.ErrNotFound) {
		s, err = lookup.Resolve(ctx, j.Store, name, skein.Filter{})
	}
	if errors.Is(err, skein.ErrNotFound) {
		return s, noSession(ctx, j, name)
	}
	if several := (*skein.AmbiguousError)(nil); errors.As(err, &several) {
		return s, several // it includes the name
	}
	return s, err
}

// Live is [Named] for a caller that continues the session: one in the bin is refused,
// even if name is its ID, since nobody would find there what is said next.
//
// The error wraps skein.ErrAmbiguous or skein.ErrNotFound.
func Live(ctx context.Context, j *job.Job, name string) (skein.Session, error) {
	s, err := Named(ctx, j, name)
	if err == nil && s.Binned != 0 {
		return s, inBin(s)
	}
	return s, err
}

// inBin returns the error that s is in the bin.
func inBin(s skein.Session) error {
	return fault.Advise(fault.Missing("the session %q is in the bin", Called(s)), "bring it back: skein restore %s", ShortID(s.ID))
}

// meansNewest reports whether name is a word for the newest session.
func meansNewest(name string) bool { return name == "-" || name == "last" }

// newestOrCalled returns the newest session of this project, and says which others
// have the word, such as last, as their title or key. If the project has no
// session, it returns one of those.
func newestOrCalled(ctx context.Context, j *job.Job, word string) (skein.Session, error) {
	newest, err := newest(ctx, j)
	if err != nil && !Gone(err) {
		return newest, err
	}
	others, lookErr := reallyCalled(ctx, j, word, newest.ID)
	switch {
	case lookErr != nil || len(others) == 0:
		return newest, errors.Join(err, lookErr)
	case err == nil:
		j.Say("%q means the newest session, %s; to name a session with that title, use its ID:\n%s", word, ShortID(newest.ID), Candidates(others, j.Now()))
		return newest, nil
	case len(others) > 1:
		return newest, &skein.AmbiguousError{Name: word, Candidates: others}
	}
	return others[0], nil
}

// reallyCalled returns the sessions, except the one with ID but, whose title or key
// is word, at most lookup.MaxCandidates.
func reallyCalled(ctx context.Context, j *job.Job, word string, but skein.SessionID) (all []skein.Session, err error) {
	for _, f := range []skein.Filter{{Title: word}, {Key: word}} {
		f.IncludeEmpty = true
		for s, err := range j.Store.Sessions(ctx, f) {
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
func newest(ctx context.Context, j *job.Job) (skein.Session, error) {
	project, err := j.ProjectOf("")
	if err != nil {
		return skein.Session{}, err
	}
	found, err := Matching(ctx, j, skein.Filter{Project: project, NoChildren: true, Limit: 1})
	if err != nil {
		return skein.Session{}, err
	}
	if len(found) == 0 {
		return skein.Session{}, fault.Missing("no session in %s yet", j.Tilde(project))
	}
	return found[0], nil
}

// Exact returns the session with the ID or key name, matched exactly.
//
// The error wraps skein.ErrNotFound.
func Exact(ctx context.Context, j *job.Job, name string) (skein.SessionID, error) {
	if id := skein.SessionID(name); id.Check() == nil {
		if s, err := j.Store.Session(ctx, id); !errors.Is(err, skein.ErrNotFound) {
			return s.ID, err
		}
	}
	found, err := Matching(ctx, j, skein.Filter{Key: name, Limit: 1, IncludeEmpty: true})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fault.Missing("no session with the ID or key %q", name)
	}
	return found[0].ID, nil
}

// ShortID returns a short form of id, for use outside lists: its end, if that is
// random; else all of it, as other IDs may begin in the same way.
func ShortID(id skein.SessionID) string {
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
func noSession(ctx context.Context, j *job.Job, name string) error {
	binned, lookErr := lookup.Resolve(ctx, j.Store, name, skein.Filter{Bin: true})
	switch {
	case lookErr == nil:
		return inBin(binned)
	case errors.Is(lookErr, skein.ErrAmbiguous):
		return fault.Advise(fault.Missing("sessions with %q in their names are in the bin", name), "see them: skein list --all --bin")
	case !Gone(lookErr):
		return lookErr
	}
	err := fault.Missing("no session %q", name)
	found, lookErr := Matching(ctx, j, skein.Filter{NoChildren: true, Limit: 500})
	if lookErr != nil {
		return errors.Join(err, lookErr)
	}
	near := nearest(name, found)
	if len(near) == 0 {
		return err
	}
	return fault.Advise(err, "did you mean:\n%s", Candidates(near, j.Now()))
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
		score := max(alike(name, s.Name()), alike(name, s.Key), alike(name, id[:min(len(id), 8)]), alike(name, ShortID(s.ID)))
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

// Candidates returns a line about each of ss, to choose from.
func Candidates(ss []skein.Session, now time.Time) string {
	var b strings.Builder
	for i, id := range shortIDs(ss) {
		fmt.Fprintf(&b, "  %s  %s  (%s)\n", id, Called(ss[i]), terminal.Ago(ss[i].Updated, now))
	}
	return strings.TrimRight(b.String(), "\n")
}

// WriteCandidates prints what an ambiguous name could mean.
func WriteCandidates(w io.Writer, err error, now time.Time) {
	if a := (*skein.AmbiguousError)(nil); errors.As(err, &a) {
		fmt.Fprintln(w, Candidates(a.Candidates, now))
		if a.More {
			fmt.Fprintln(w, "  …")
		}
	}
}

// Gone reports whether err says that the session does not exist (any more).
func Gone(err error) bool { return errors.Is(err, skein.ErrNotFound) }

// Binned returns the one session in the bin that name means.
//
// The error wraps skein.ErrNotFound or skein.ErrAmbiguous.
func Binned(ctx context.Context, j *job.Job, name string) (skein.Session, error) {
	s, err := lookup.Resolve(ctx, j.Store, name, skein.Filter{Bin: true})
	switch {
	case Gone(err):
		return s, fault.Advise(fault.Missing("no session %q in the bin", name), "see what is in the bin: skein list --all --bin")
	case err == nil && s.Binned == 0:
		return s, fault.Advise(fault.Missing("session %q is not in the bin", Called(s)), "see what is in the bin: skein list --all --bin")
	}
	return s, err
}

// SessionOrBinned returns the one session that name means: one that is not in the
// bin, if there is one, else one in the bin.
//
// The error wraps skein.ErrNotFound or skein.ErrAmbiguous.
func SessionOrBinned(ctx context.Context, j *job.Job, name string) (skein.Session, error) {
	s, err := Named(ctx, j, name)
	if !Gone(err) {
		return s, err
	}
	if b, berr := lookup.Resolve(ctx, j.Store, name, skein.Filter{Bin: true}); !Gone(berr) {
		return b, berr
	}
	return s, err
}

// Called returns a short name for s to use in a sentence, without quotes around it.
func Called(s skein.Session) string {
	s = Secrets(false).Mask().Session(s)
	return terminal.Cut(render.Line(s.Name()), 50)
}

// manyMoved is how many of the newest sessions are searched for a project that was
// moved.
const manyMoved = 5000

// A MovedProject is where a project may have been before.
type MovedProject struct {
	From, To string // folders; From is "" if nothing suggests that it was moved
	Sure     bool   // it is the same folder; else only its name is the same
}

// Moved returns where this project was before, if it has no session of user u yet, and
// the newest one of another project says so: its folder is this one and was renamed, or
// it has the same name and no longer exists, so it may have been moved here.
//
// The error is that of the store.
func Moved(ctx context.Context, j *job.Job, u skein.User, project string) (was MovedProject, err error) {
	here, err := Matching(ctx, j, skein.Filter{User: u, Project: project, Limit: 1, IncludeEmpty: true})
	if err != nil || len(here) > 0 {
		return was, err
	}
	for _, from := range j.Renamed(project) {
		there, err := Matching(ctx, j, skein.Filter{User: u, Project: from, Limit: 1, IncludeEmpty: true})
		if err != nil || len(there) > 0 {
			return MovedProject{from, project, true}, err
		}
	}
	gone := map[string]bool{} // projects looked for on the disk
	for s, err := range j.Store.Sessions(ctx, skein.Filter{User: u, NoChildren: true, Limit: manyMoved}) {
		if err != nil {
			return was, err
		}
		if s.Project == project || !filepath.IsAbs(s.Project) || filepath.Base(s.Project) != filepath.Base(project) {
			continue
		}
		if _, known := gone[s.Project]; !known {
			_, err := os.Lstat(s.Project)
			gone[s.Project] = errors.Is(err, fs.ErrNotExist)
		}
		if gone[s.Project] {
			return MovedProject{From: s.Project, To: project}, nil
		}
	}
	return was, nil
}

// Hint says what to type so that the sessions come along.
func (m MovedProject) Hint(j *job.Job, tell func(string, ...any)) {
	if m.From == "" {
		return
	}
	from, to := render.Line(j.Tilde(m.From)), render.Line(j.Tilde(m.To))
	question := "was %s moved from %s, which is gone?"
	if m.Sure {
		question = "%s was %s before:"
	}
	tell(question+" take its sessions along: skein project mv %s %s", to, from, terminal.ShellWord(from), terminal.ShellWord(to))
}

// ShortName returns a name for s to use in a command: a short one, if it means only s.
func ShortName(ctx context.Context, j *job.Job, s skein.Session) string {
	short := ShortID(s.ID)
	if found, err := Named(ctx, j, short); err == nil && found.ID == s.ID {
		return short
	}
	return string(s.ID)
}
