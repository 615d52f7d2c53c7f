package interoptest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// A refusing store returns an error for one session or one source.
type refusing struct {
	*memory.Store
	session skein.SessionID // the session that nothing is appended to
	path    string          // the source that it reports nothing about
	err     error
}

// Append implements [skein.Store].
func (r refusing) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	for _, b := range bs {
		if b.Session == r.session && r.session != "" {
			return nil, fmt.Errorf("append to %s: %w", b.Session, r.err)
		}
	}
	return r.Store.Append(ctx, bs...)
}

// File implements [skein.Sources].
func (r refusing) File(ctx context.Context, format, path string) (skein.SourceFile, error) {
	if path == r.path && path != "" {
		return skein.SourceFile{}, fmt.Errorf("file %s: %w", path, r.err)
	}
	return r.Store.File(ctx, format, path)
}

// refusals are the errors of a store, except that another user has the ID: see
// Suite.users.
var refusals = []error{
	skein.ErrInvalid, skein.ErrNotFound, skein.ErrMismatch, skein.ErrConflict, skein.ErrLocked, skein.ErrFenced,
	skein.ErrDeleted, skein.ErrRefused, skein.ErrAmbiguous, skein.ErrUnknown, skein.ErrClosed, skein.ErrCorrupt, skein.ErrNewer,
	skein.ErrAway, skein.ErrReadOnly, skein.ErrFull, errors.New("disk I/O error (4874)"),
}

// refused checks: whatever keeps one session from being imported, it is reported, all
// others are imported, and the next import tries it again.
func (s Suite) refused(t *testing.T, name string) {
	root := lay(t, filepath.Join(s.Dir, name))
	want := memory.New()
	defer want.Close()
	s.bring(t, want, root)
	all, words := origins(t, want), said(t, want)
	n := slices.Index(s.cases(t), name)
	for i, id := range slices.Sorted(maps.Keys(all))[:min(len(all), maxRefused)] {
		errs := refusals // one case has all of them
		if n+i > 0 {
			errs = errs[(n+i)%len(errs):][:1]
		}
		for _, err := range errs {
			s.refusedOne(t, root, refusing{session: id, err: err}, all[id], all, words)
		}
		if path := all[id].Path; path != "" && s.Format.Load == nil {
			s.refusedOne(t, root, refusing{path: path, err: skein.ErrAway}, all[id], all, words)
		}
	}
}

// maxRefused is how many sessions of a case are refused.
const maxRefused = 4

// refusedOne imports into a store that refuses what belongs to o, and then into the
// same store when it no longer does.
func (s Suite) refusedOne(t *testing.T, root string, r refusing, o skein.Origin, all map[skein.SessionID]skein.Origin, words []string) {
	t.Helper()
	r.Store = memory.New()
	defer r.Store.Close()
	what := fmt.Sprintf("Import where session %q, file %q is refused with %q", r.session, r.path, r.err)
	rep, err := importer.Import(t.Context(), r, []interop.Format{s.Format}, []string{root}, interop.Options{})
	if err != nil {
		t.Errorf("%s gives the error %v, want the others to be taken in", what, err)
		return
	}
	if deleted := errors.Is(r.err, skein.ErrDeleted); !deleted && rep.Failed+rep.Waiting == 0 {
		t.Errorf("%s = %+v, want it named", what, rep)
	}
	if rep.Failed > 0 && len(rep.Skips) == 0 {
		t.Errorf("%s names nothing of the error %v", what, rep.Err)
	}
	got := origins(t, r.Store)
	for id, other := range all {
		_, there := got[id]
		if !there && other.Path != o.Path && other.ID != o.ID && !strings.HasPrefix(string(id), string(r.session)) {
			t.Errorf("%s: session %s is not taken in", what, id)
		}
	}
	if errors.Is(r.err, skein.ErrDeleted) {
		return // a deleted session is not imported again
	}
	again, err := importer.Import(t.Context(), r.Store, []interop.Format{s.Format}, []string{root}, interop.Options{})
	if err != nil || again.Failed > 0 {
		t.Errorf("%s, then once more = %+v, %v", what, again, err)
	}
	if diff := cmp.Diff(missing(once(words), once(said(t, r.Store))), []string(nil)); diff != "" {
		t.Errorf("%s, then once more: these words are missing (-missing):\n%s", what, diff)
	}
}

// once returns the elements of all, each once.
func once(all []string) []string { return slices.Compact(slices.Sorted(slices.Values(all))) }

// origins returns where the sessions came from.
func origins(t testing.TB, s *memory.Store) map[skein.SessionID]skein.Origin {
	t.Helper()
	all := map[skein.SessionID]skein.Origin{}
	for sess, err := range s.Sessions(context.Background(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		var o skein.Origin
		if sess.Origin != nil {
			o = *sess.Origin
		}
		all[sess.ID] = o
	}
	return all
}
