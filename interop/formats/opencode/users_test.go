package opencode

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// A copy of a session that says something else becomes a fork, for each user who imports
// it: that the IDs are taken by somebody else changes nothing.
func TestEveryUserMayImportCopiesThatDiffer(t *testing.T) {
	whole := memory.New()
	for _, who := range []skein.User{"ann", "bob", "eve"} {
		for round, want := range []int{6, 0} {
			rep, err := importer.Import(t.Context(), whole.As(who), []interop.Format{Format()}, []string{"testdata"}, interop.Options{})
			if err != nil || rep.Sessions != want || rep.Skipped != 0 || rep.Failed != 0 {
				t.Errorf("import %d of %s = %+v, %v; want %d new sessions, and nothing left out", round+1, who, rep, err, want)
			}
		}
	}
}
