//go:build unix

package job

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/fault"
)

// othersFolder returns a folder that belongs to a user other than root.
func othersFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRootLeavesTheStoresOfOthersAlone(t *testing.T) {
	dir := othersFolder(t)
	file := filepath.Join(dir, "skein.db")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for what, path := range map[string]string{
		"a file in it": file, "a file to come": filepath.Join(dir, "other.db"), "a folder to come": filepath.Join(dir, "share", "skein", "skein.db"),
	} {
		var a *fault.AdvisedError
		err := FitsOwner(0, path)
		if !errors.As(err, &a) || !strings.Contains(err.Error(), "and you are root") || !strings.Contains(a.Hint, "run the command as ") {
			t.Errorf("root and %s of another's folder: %v, want a refusal that says how to go on", what, err)
		}
		if err := FitsOwner(1, path); err != nil {
			t.Errorf("another than root and %s: %v, want nil: the system says", what, err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("in the folder is %v, %v, want what was there", entries, err)
		}
	}
	if err := FitsOwner(0, "/skein.db"); err != nil {
		t.Errorf("root and root's own folder: %v, want nil", err)
	}
}
