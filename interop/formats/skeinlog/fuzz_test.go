package skeinlog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// Whatever is in a log, an import ends without an error, and a second one adds
// nothing.
func FuzzFormat(f *testing.F) {
	s := memory.New()
	defer s.Close()
	fill(f, s)
	for _, id := range []skein.SessionID{"first", "branch"} {
		whole := log(f, s, id)
		for _, data := range [][]byte{whole, whole[:len(whole)/2], append(whole[:len(whole):len(whole)], whole...), whole[:len(whole)-1]} {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		at := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(at, data, 0o600); err != nil {
			t.Fatal(err)
		}
		to := memory.New()
		defer to.Close()
		take := func() interop.Report {
			rep, err := importer.Import(t.Context(), to, []interop.Format{Format()}, []string{at}, interop.Options{})
			if err != nil {
				t.Fatalf("Import gives the error %v", err)
			}
			return rep
		}
		take()
		first := all(t, to)
		if err := os.WriteFile(at, slices.Concat(data, []byte("\n")), 0o600); err != nil { // or it would not be read
			t.Fatal(err)
		}
		take()
		if diff := cmp.Diff(first, all(t, to)); diff != "" && len(data) > 0 && data[len(data)-1] == '\n' {
			t.Errorf("a second import changed the store (-first +second):\n%s", diff)
		}
	})
}

// all returns the events of all sessions.
func all(t *testing.T, s skein.Store) map[skein.SessionID][]string {
	t.Helper()
	m := map[skein.SessionID][]string{}
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		m[sess.ID] = events(t, s, sess.ID)
	}
	return m
}
