package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// MaxCandidates is how many sessions an [AmbiguousError] names.
const MaxCandidates = 20

// minPart is the shortest part of an ID that names a session, in characters.
const minPart = 4

// Resolve returns the one session that a person means by name, the first of
// these that exists:
//
//   - the session with that ID, whatever f says
//   - the session with that key
//   - the session whose ID begins or ends with name (4 characters or more), or with
//     name in uppercase or lowercase, as some programs write all their IDs
//   - the session whose ID in the program that it was imported from begins or ends
//     with name, or that has the events of a copy whose ID there does
//   - the session with that title, ignoring case, or first words if it has no title
//   - the session whose title, or first words, contain name, unless name is the key,
//     the title or part of the ID of a session in the bin
//
// f narrows the choice; its Key, IDPrefix, IDSuffix, Title, Before and Limit
// are not used. The caller handles "-" and "last", which mean the newest session of
// a project.
//
// The error wraps [ErrNotFound] if no session is found, [ErrAmbiguous] (as an
// *[AmbiguousError]) if one of these finds several, [ErrInvalid] if name is
// empty.
func Resolve(ctx context.Context, s skein.Store, name string, f skein.Filter) (_ skein.Session, err error) {
	defer skein.Wrapf(&err, "session %q", name)
	r := newResolver(ctx, s, name, f)
	return r.first(r.byKey, r.byPart, r.bySource, r.byTitle)
}

// ResolveWhole is [Resolve] for a caller that is about to destroy the session. A
// title, or first words, must match as a whole; part of an ID counts only if it cannot
// be a word: 8 characters or more, one of them a digit, since the IDs of some programs
// are names.
//
// The error wraps what the error of Resolve does.
func ResolveWhole(ctx context.Context, s skein.Store, name string, f skein.Filter) (_ skein.Session, err error) {
	defer skein.Wrapf(&err, "session %q", name)
	r := newResolver(ctx, s, name, f)
	if len(name) < 8 || !strings.ContainsAny(name, "0123456789") {
		return r.first(r.byKey, r.byWholeTitle)
	}
	return r.first(r.byKey, r.byPart, r.bySource, r.byWholeTitle)
}

func newResolver(ctx context.Context, s skein.Store, name string, f skein.Filter) *resolver {
	f.IDPrefix, f.IDSuffix, f.Title, f.Key, f.Before, f.Limit, f.IncludeEmpty = "", "", "", "", nil, 0, true
	return &resolver{ctx, s, name, f}
}

// first returns the session whose ID is the name, else the result of the first of
// finds that finds a session.
func (r *resolver) first(finds ...func() (candidates, error)) (skein.Session, error) {
	if strings.TrimSpace(r.name) == "" {
		return skein.Session{}, skein.Invalidf("name: it is empty")
	}
	if id := skein.SessionID(r.name); id.Check() == nil {
		if found, err := r.store.Session(r.ctx, id); !errors.Is(err, skein.ErrNotFound) {
			return found, err
		}
	}
	for _, find := range finds {
		c, err := find()
		if err != nil {
			return skein.Session{}, err
		}
		if len(c.found) > 0 {
			return c.only(r.name)
		}
	}
	return skein.Session{}, skein.ErrNotFound
}

type resolver struct {
	ctx    context.Context
	store  skein.Store
	name   string
	filter skein.Filter
}

// A candidates is the sessions that a name could mean.
type candidates struct {
	found []skein.Session
	more  bool
}

func (c *candidates) add(s skein.Session) {
	switch same := func(t skein.Session) bool { return t.ID == s.ID }; {
	case slices.ContainsFunc(c.found, same):
	case len(c.found) == MaxCandidates:
		c.more = true
	default:
		c.found = append(c.found, s)
	}
}

func (c *candidates) only(name string) (skein.Session, error) {
	if len(c.found) > 1 {
		return skein.Session{}, &skein.AmbiguousError{Name: name, Candidates: c.found, More: c.more}
	}
	return c.found[0], nil
}

// all adds the sessions that f selects, until there are too many.
func (r *resolver) all(c *candidates, f skein.Filter) error {
	f.Limit = MaxCandidates + 1
	for s, err := range r.store.Sessions(r.ctx, f) {
		if err != nil {
			return err
		}
		c.add(s)
	}
	return nil
}

func (r *resolver) byKey() (c candidates, err error) {
	f := r.filter
	f.Key = r.name
	return c, r.all(&c, f)
}

func (r *resolver) byPart() (c candidates, err error) {
	if utf8.RuneCountInString(r.name) < minPart {
		return c, nil
	}
	for i, name := range []string{r.name, strings.ToUpper(r.name), strings.ToLower(r.name)} {
		if i > 0 && name == r.name {
			continue
		}
		begins, ends := r.filter, r.filter
		begins.IDPrefix, ends.IDSuffix = name, name
		if err := errors.Join(r.all(&c, begins), r.all(&c, ends)); err != nil || len(c.found) > 0 {
			return c, err
		}
	}
	return c, nil
}

// bySource searches the files that sessions were imported from: a copy has no
// session of its own, and an ID that was taken was replaced by another.
func (r *resolver) bySource() (c candidates, err error) {
	if utf8.RuneCountInString(r.name) < minPart {
		return c, nil
	}
	for file, err := range skein.SourcesOf(r.store).FilesNamed(r.ctx, r.name) { // byPart has searched the others
		if err != nil {
			return c, err
		}
		id := file.Session
		if id == "" {
			id = file.CopyOf
		}
		if id == "" {
			continue
		}
		found, err := r.store.Session(r.ctx, id)
		switch {
		case errors.Is(err, skein.ErrNotFound):
		case err != nil:
			return c, err
		case (found.Binned != 0) == r.filter.Bin && (r.filter.User == "" || r.filter.User == found.User):
			c.add(found)
		}
	}
	return c, nil
}

func (r *resolver) byTitle() (candidates, error) {
	whole, part, err := r.titles()
	if len(whole.found) > 0 || len(part.found) == 0 {
		return whole, err
	}
	if binned, berr := r.inBin(); binned || berr != nil {
		return candidates{}, errors.Join(err, berr)
	}
	return part, err
}

// inBin reports whether the name is the key, the title or part of the ID of a
// session in the bin, while sessions outside it are looked for. Part of the title
// of another session must not take its place.
func (r *resolver) inBin() (bool, error) {
	if r.filter.Bin {
		return false, nil
	}
	in := *r
	in.filter.Bin = true
	for _, find := range []func() (candidates, error){in.byKey, in.byPart, in.byWholeTitle} {
		if c, err := find(); err != nil || len(c.found) > 0 {
			return len(c.found) > 0, err
		}
	}
	return false, nil
}

func (r *resolver) byWholeTitle() (candidates, error) {
	whole, _, err := r.titles()
	return whole, err
}

// titles returns the sessions whose title or first words are the name, and those
// whose title or first words contain it.
func (r *resolver) titles() (whole, part candidates, err error) {
	f := r.filter
	f.Title = r.name
	for s, err := range r.store.Sessions(r.ctx, f) {
		if err != nil {
			return whole, part, err
		}
		if strings.EqualFold(s.Name(), r.name) {
			whole.add(s)
		}
		part.add(s)
	}
	return whole, part, nil
}
