package ethos

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/interop/writeback"
)

func suite() interoptest.Suite {
	return interoptest.Suite{
		Format: Format(), Dir: "testdata", Lacks: []string{"which model answered", "a system prompt", "a message that failed", "a repository", "a branch", "a commit", "a change of branch", "what is known of a message's request later", "what another request used", "what a cache keeps for an hour", "a service tier", "a description", "an agent's settings", "a key", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note", "reasoning", "what it used"}, Recorded: true, Tables: tables,
		Unheard: `INSERT INTO messages (id, session_id, role, content, timestamp) SELECT 'unheard-' || ?1 || '-' || id, id, 'unheard-of', ?2, '2027-01-01T00:00:00Z' FROM sessions`,
	}
}

func TestFormat(t *testing.T) { interoptest.Run(t, suite()) }

// exact checks that every session of s is written as it was in the database at path.
func exact(t *testing.T, s skein.Store, path string) {
	t.Helper()
	home := t.TempDir()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		done, err := writeback.Export(t.Context(), s, Format(), sess.ID, home, writeback.Exports{})
		if err != nil || !done[0].Exact {
			t.Errorf("Export(%s) = %+v, %v, want it exact", sess.ID, done, err)
		}
	}
	was, is := interoptest.Dump(t, path, tables...), interoptest.Dump(t, filepath.Join(home, filepath.Base(path)), tables...)
	if diff := cmp.Diff(string(was), string(is)); diff != "" {
		t.Errorf("%s written again (-was +is):\n%s", path, diff)
	}
}
