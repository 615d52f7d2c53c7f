package provenance

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/internal/repository"
)

// A SessionEdit is what a call of a session did to a file.
type SessionEdit struct {
	Write
	Path string // from the root of the session's repository on, with slashes; absolute, if the file is not known to be in there
	From string // the same, before a move; "" if it was not moved
}

// Changes returns what the calls of session x did to files, in order, without those that
// failed. The error is the store's.
func Changes(ctx context.Context, store skein.Store, x *skein.Session) ([]SessionEdit, error) {
	h := historian{searcherOf(store, x)}
	writes, err := h.writes(ctx, skein.Query{Session: x.ID, Role: skein.RoleAssistant})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(writes, func(a, b Write) int { return cmp.Compare(a.Seq, b.Seq) })
	return h.edits(ctx, writes)
}

// History returns what the calls of all sessions did to a file of session x's repository,
// the newest first, without those that failed; and its path, as in a [SessionEdit]. The file
// is named from the root of the repository on, or by its absolute path in x. Moves are
// followed to the names that it had before. The error is the store's.
func History(ctx context.Context, store skein.Store, x *skein.Session, file string) (name string, all []SessionEdit, err error) {
	h := historian{searcherOf(store, x)}
	name = h.name(x, &edits.Edit{Dir: h.root}, file)
	names := []string{name}
	var found []SessionEdit
	for i := 0; i < len(names); i++ {
		writes, err := h.naming(ctx, names[i])
		if err != nil {
			return name, nil, err
		}
		done, err := h.edits(ctx, slices.DeleteFunc(slices.Clone(writes), func(w Write) bool {
			y := h.sessions[w.Session]
			return y == nil || h.name(y, &w.Edit, w.Edit.Path) != names[i] && h.name(y, &w.Edit, w.Edit.From) != names[i]
		}))
		if err != nil {
			return name, nil, err
		}
		for _, e := range done {
			if e.Path == names[i] && e.From != "" && !slices.Contains(names, e.From) {
				names = append(names, e.From)
			}
			if i == 0 || !slices.Contains(names[:i], e.Path) && !slices.Contains(names[:i], e.From) {
				found = append(found, e)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b SessionEdit) int { return byTime(a.Write, b.Write) })
	slices.Reverse(found)
	return name, found, nil
}

// Absolute returns the path of a file that session x names, with slashes; as it is, if the
// folder that x is in is not known.
func Absolute(x *skein.Session, file string) string { return edits.Clean(file, x.Cwd) }

// A historian looks in a store for what was done to files, without the files.
type historian struct{ searcher }

// searcherOf returns a searcher for the repository that a session is of, as its record tells.
func searcherOf(store skein.Store, x *skein.Session) searcher {
	s := newSearcher(store, top(x))
	s.repo = repository.ID(x.Checkout.Repository)
	if below := edits.Slashed(x.Checkout.Subfolder); below != "" {
		if root, ok := strings.CutSuffix(edits.Slashed(x.Cwd), "/"+below); ok {
			s.root = root
		}
	}
	for dir := s.root; len(dir) > 1; dir = path.Dir(dir) {
		if path.Base(dir) == strings.TrimSuffix(path.Base(string(s.repo)), ".git") {
			s.root = dir
			break
		}
	}
	s.sessions[x.ID] = x
	return s
}

// name returns the path of a file that an edit of session x names, as in a [SessionEdit].
func (h *historian) name(x *skein.Session, e *edits.Edit, p string) string {
	if p == "" {
		return ""
	}
	if name := h.inside(x, e, p); name != "" {
		return name
	}
	return edits.Clean(p, e.Dir)
}

// edits returns those of the writes that succeeded.
func (h *historian) edits(ctx context.Context, writes []Write) (all []SessionEdit, err error) {
	for i := range writes {
		w := &writes[i]
		x, err := h.session(ctx, w.Session)
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		if ok, err := h.succeeded(ctx, w); err != nil || !ok {
			if err != nil {
				return nil, err
			}
			continue
		}
		all = append(all, SessionEdit{*w, h.name(x, &w.Edit, w.Edit.Path), h.name(x, &w.Edit, w.Edit.From)})
	}
	return all, nil
}

// SameLines are lines of a report that follow each other and have the same answer and
// commit.
type SameLines struct{ First, Last int } // indexes of Report.Lines and Answers

// Ranges returns the lines of a report as ranges, in order.
func (r *Report) Ranges() (all []SameLines) {
	for i := range r.Lines {
		if n := len(all); n > 0 && r.Lines[i].Commit == r.Lines[i-1].Commit && together(&r.Answers[i], &r.Answers[i-1]) {
			all[n-1].Last = i
		} else {
			all = append(all, SameLines{i, i})
		}
	}
	return all
}

// together reports whether two lines have the same answer.
func together(a, b *Answer) bool {
	return a.Certainty == b.Certainty && (a.Write == nil) == (b.Write == nil) && (a.Write == nil || a.Write.Place == b.Write.Place)
}
