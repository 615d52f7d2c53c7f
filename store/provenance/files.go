package provenance

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/repository"
)

// A WrittenFile is a file of a repository, with the sessions that changed it.
type WrittenFile struct {
	Path    string       // relative to the root, with slashes
	Last    skein.Time   // of the newest change
	Changes int          // calls
	By      []FileWriter // the one with the newest change first
}

// A FileWriter is a session that changed a file.
type FileWriter struct {
	skein.Place            // of its newest change
	Last        skein.Time // when that was
	Changes     int        // calls
}

// A WrittenQuery says which repository's files are looked for, in what its sessions did.
type WrittenQuery struct {
	Repository repository.ID // "" if nothing identifies it elsewhere
	Root       string        // absolute path of a working tree of it, which need not exist here
	Most       int           // how many messages of models are looked at, the newest first
}

// errEnough ends a search that has seen enough.
var errEnough = errors.New("enough")

// WrittenBy returns the files of a repository that its sessions changed with their own
// editing tools, the one that was changed last first, as far as the newest messages tell:
// since is the time of the oldest one that was looked at, and 0 if all were. Calls that
// failed changed nothing. The error is the store's.
func WrittenBy(ctx context.Context, store skein.Store, of WrittenQuery) (files []WrittenFile, since skein.Time, err error) {
	s := newSearcher(store, of.Root)
	s.repo = of.Repository
	q := skein.Query{Repository: string(of.Repository), Role: skein.RoleAssistant}
	if of.Repository == "" {
		q.Project = of.Root
	}
	found, seen := map[string]*WrittenFile{}, 0
	err = s.each(ctx, q, func(h *skein.Hit, x *skein.Session) error {
		if seen++; seen > of.Most {
			return errEnough
		}
		since = h.Time
		for _, w := range writesOf(h, x) {
			name := s.inside(x, &w.Edit, w.Edit.Path)
			if name == "" {
				continue
			}
			switch ok, err := s.succeeded(ctx, &w); {
			case err != nil:
				return err
			case !ok:
				continue
			case found[name] == nil:
				found[name] = &WrittenFile{Path: name}
			}
			found[name].add(&w)
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		err = nil
	case err == nil:
		since = 0
	}
	for _, f := range found {
		files = append(files, *f)
	}
	slices.SortFunc(files, func(a, b WrittenFile) int { return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Path, b.Path)) })
	return files, since, err
}

// add counts a change. They come with the newest one first.
func (f *WrittenFile) add(w *Write) {
	f.Changes++
	f.Last = max(f.Last, w.Time)
	i := slices.IndexFunc(f.By, func(by FileWriter) bool { return by.Session == w.Session })
	if i < 0 {
		i = len(f.By)
		f.By = append(f.By, FileWriter{Place: w.Place, Last: w.Time})
	}
	f.By[i].Changes++
}
