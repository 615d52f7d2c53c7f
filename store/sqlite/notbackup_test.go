package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// A file that is not a backup is refused with a reason, and nothing is changed.
func TestRestoreRefusesWhatIsNoBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "x.db"))
	add(t, s, "a", created(), user("stays"))
	file := func(name string, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "kept.db")
	for _, c := range []struct {
		path string
		err  error
		text string
	}{
		{folder, skein.ErrInvalid, "a folder"},
		{file("text.db", strings.Repeat("this is no database\n", 1000)), skein.ErrCorrupt, "not an SQLite database"},
		{file("empty.db", ""), skein.ErrInvalid, "empty file"},
		{filepath.Join(dir, "none.db"), skein.ErrNotFound, "file not found"},
	} {
		err := s.RestoreBackup(t.Context(), c.path, kept)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("RestoreBackup(%s) = %v, want one that wraps %q and says %q", c.path, err, c.err, c.text)
		}
		if _, err := os.Stat(kept); err == nil {
			t.Errorf("RestoreBackup(%s) made a copy of the store", c.path)
		}
	}
	if n := len(events(t, s, "a")); n != 2 {
		t.Errorf("the session has %d events, want 2", n)
	}
	if _, err := dial(folder); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "a folder") {
		t.Errorf("Open of a folder = %v, want one that wraps %q and says so", err, skein.ErrInvalid)
	}
}
