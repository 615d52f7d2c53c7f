package aider

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestPlacesAreTheRepositorysAndTheFolders(t *testing.T) {
	root := t.TempDir()
	sub := filepath.Join(root, "a", "b")
	for _, dir := range []string{sub, filepath.Join(root, ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	none := func(string) string { return "" }
	got := places(interop.Home{Cwd: sub, Env: none})
	if want := []string{filepath.Join(root, fileName), filepath.Join(sub, fileName)}; !slices.Equal(got, want) {
		t.Errorf("places below a repository = %q, want %q", got, want)
	}
	if got := places(interop.Home{Env: none}); len(got) != 0 {
		t.Errorf("places without a working directory = %q, want none", got)
	}
	named := filepath.Join(root, "x"+fileName)
	if got := places(interop.Home{Cwd: sub, Env: func(string) string { return named }}); !slices.Equal(got, []string{named}) {
		t.Errorf("places with AIDER_CHAT_HISTORY_FILE = %q, want %s", got, named)
	}
}
