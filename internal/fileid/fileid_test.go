//go:build unix

package fileid_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/internal/fileid"
)

func TestAFolderKeepsItsIDWhenItIsRenamed(t *testing.T) {
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	one, two, other := at("one"), at("two"), at("other")
	for _, dir := range []string{one, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	id := fileid.ID(one)
	if id == "" || id == fileid.ID(other) {
		t.Fatalf("ID = %q, that of another folder %q: want two", id, fileid.ID(other))
	}
	if err := os.Rename(one, two); err != nil {
		t.Fatal(err)
	}
	if got := fileid.ID(two); got != id {
		t.Errorf("ID after renaming = %q, want %q", got, id)
	}
	if got := fileid.ID(one); got != "" {
		t.Errorf("ID of what is gone = %q, want none", got)
	}
}
