package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// A store with damaged pages is the main reason to restore a backup.
func TestBackupComesBackOverADamagedStore(t *testing.T) {
	dir := t.TempDir()
	name, copied, kept := filepath.Join(dir, "a.db"), filepath.Join(dir, "copy.db"), filepath.Join(dir, "kept.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		addText(t, s, "a", "words that fill a page or two, and some more of them, so that there is something to damage")
	}
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	page := s.number(t, `SELECT rootpage FROM sqlite_schema WHERE name = 'events'`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 4096), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, name)
	if err := s.RestoreBackup(t.Context(), copied, kept); err != nil {
		t.Fatalf("RestoreBackup over damaged pages: %v", err)
	}
	if x, err := s.Newest(t.Context(), "a", 50, 0); err != nil || len(x) != 40 {
		t.Errorf("after it there are %d messages, %v, want 40", len(x), err)
	}
	if st, err := os.Stat(kept); err != nil || st.Size() == 0 {
		t.Errorf("the damaged store was not kept: %v", err)
	}
}
