package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// A process that deletes and exits at once, as a command does, leaves no
// deleted word in the file: not in the index either.
func TestDeletedWordsAreGoneWhenTheStoreIsClosed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const word = "unmistakablewatchword"
	addText(t, s, "a", "the door opens to "+word)
	for range 20 {
		addText(t, s, "b", "something that stays")
	}
	find(t, s, word) // it is indexed now
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), name, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	s.closeFor = 10 * time.Minute // the machine may be busy
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if i := bytes.Index(data, []byte(word[:12])); i >= 0 {
		t.Errorf("the file has the deleted word at byte %d", i)
	}
}
