package exchange

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/sqlite"
)

// If several formats recognize a file, the first one reads it, and the folder or
// database is reported under that format. Those that match any database must come
// after those that recognize the name or the folder.
func TestFormatsThatTakeAnyDatabaseComeLast(t *testing.T) {
	last := ""
	for _, f := range All() {
		switch takes := f.Unit != nil && f.Unit("/some/where/any.db") != ""; {
		case takes:
			last = f.Name
		case last != "":
			t.Errorf("format %s comes after %s, which takes any database", f.Name, last)
		}
	}
	if last == "" {
		t.Error("no format takes any database: openai-agents should")
	}
}

// A store of skein's is not taken for another program's, whatever the name of its
// file and whether or not its write-ahead log was checkpointed: it is not even
// copied.
func TestAStoreOfOurOwnIsNobodyElses(t *testing.T) {
	dir := t.TempDir()
	said := skein.NewEvent(skein.KindSaid, 0, skein.UserSays("session_id, locked_by and time_created"))
	for _, name := range []string{"skein.db", "backup", "opencode-old.db", "agsh.db", "logs.db"} {
		s, err := sqlite.Open(t.Context(), filepath.Join(dir, name), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 0, skein.Created{}), said}}); err != nil {
			t.Fatal(err)
		}
		if name == "skein.db" {
			defer s.Close()
		} else if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	nowhere := filepath.Join(dir, "nowhere") // making a copy would fail
	t.Setenv("TMPDIR", nowhere)
	t.Setenv("TMP", nowhere)
	to := memory.New()
	defer to.Close()
	rep, err := importer.Import(t.Context(), to, All(), []string{dir}, interop.Options{})
	if err != nil || rep.Sessions != 0 || rep.Skipped != 0 || rep.Failed != 0 {
		t.Errorf("Import = %+v, %v, want nothing taken and nothing skipped", rep, err)
	}
	found, rep, err := discover.Find(t.Context(), to, All(), []string{dir})
	if err != nil || len(found) != 0 || rep.Skipped != 0 {
		t.Errorf("Find = %+v, %+v, %v, want nothing", found, rep, err)
	}
	if _, err := os.Stat(nowhere); !os.IsNotExist(err) {
		t.Errorf("%s = %v, want it not made", nowhere, err)
	}
}
