package interoptest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/memory"
)

// exportedIn exports all sessions of a case, and imports them back where they came
// from: nothing is missing.
func (s Suite) exportedIn(t *testing.T, name string) {
	store := memory.New()
	defer store.Close()
	s.bring(t, store, lay(t, filepath.Join(s.Dir, name)))
	home := t.TempDir()
	for sess, err := range store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		_, err := interop.Export(t.Context(), store, s.Format, sess.ID, home, interop.Exports{})
		if err != nil && !errors.Is(err, skein.ErrInvalid) { // it cannot be written at all
			t.Fatalf("Export(%s) = %v", sess.ID, err)
		}
	}
	for i := range 2 {
		rep := s.bring(t, store, home)
		if rep.Events != 0 || rep.Sessions != 0 {
			t.Errorf("Import(%s) as it was exported, time %d = %+v, want nothing new", name, i+1, rep)
			t.Log(dump(t, store, home))
		}
		touch(t, home, 2)
	}
}
