//go:build unix

package job

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/store/memory"
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

// What skein keeps beside its store is in the folder of its state, which another user could
// no longer write to.
func TestRootLeavesTheStateOfOthersAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root may write what belongs to others")
	}
	j := &Job{Env: &config.Env{Open: func(context.Context, config.Place) (skein.Store, error) { return memory.New(), nil }}}
	j.Dirs.State = filepath.Join(othersFolder(t), "state")
	if _, err := j.open(t.Context()); err == nil || !strings.Contains(err.Error(), "and you are root") {
		t.Errorf("root opens a store with another's folder of state: %v, want a refusal", err)
	}
	j.Dirs.State = filepath.Join(t.TempDir(), "state")
	if _, err := j.open(t.Context()); err != nil {
		t.Error(err)
	}
}
