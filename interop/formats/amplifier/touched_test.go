package amplifier_test

import (
	"os"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// The folder's time is when the session was last used: one that was touched, or
// put back from a backup, is read again, and written back to.
func TestAFolderWhoseTimeAloneChangedIsWrittenBack(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	bring(t, s, f.path)
	at := time.Unix(1_795_000_000, 0)
	if err := os.Chtimes(f.path, at, at); err != nil {
		t.Fatal(err)
	}
	if rep := bring(t, s, f.path); rep.Events != 0 || rep.Unchanged != 0 {
		t.Errorf("Import of a touched folder = %+v, want it read, and no events", rep)
	}
	if _, err := skein.Add(t.Context(), s, liveID, skein.Say(1_795_000_001_000, skein.UserSays("two"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.path, at.Add(time.Hour), at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Sync(t.Context(), s, amplifier.Format(), liveID); err != nil || done.Events != 1 {
		t.Errorf("Sync into a touched folder = %+v, %v, want an event written", done, err)
	}
}
