package codex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
)

// lock takes the lock that Codex holds on a thread while it has the thread open:
// thread-writer-locks/<thread>.lock, which exists only that long. Creating and
// removing such a file is guarded by .coordination.lock. Versions without such a
// folder lock nothing.
func lock(_ context.Context, file, _ string) (unlock func() error, err error) {
	id := idOfName(file)
	home, ok := homeOf(filepath.ToSlash(file))
	dir := filepath.Join(filepath.FromSlash(home), "thread-writer-locks")
	if _, err := os.Stat(dir); id == "" || !ok || errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	} else if err != nil {
		return nil, err
	}
	guard := flock.New(filepath.Join(dir, ".coordination.lock"))
	own := flock.New(filepath.Join(dir, id+".lock"))
	err = guarded(guard, func() error {
		ok, err := own.TryLock()
		if err == nil && !ok {
			err = fmt.Errorf("%w: thread %s by Codex", skein.ErrLocked, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return func() error {
		return guarded(guard, func() error { return errors.Join(own.Unlock(), os.Remove(own.Path())) })
	}, nil
}

func guarded(guard *flock.Flock, do func() error) error {
	if err := guard.Lock(); err != nil {
		return err
	}
	return errors.Join(do(), guard.Unlock())
}

// homeOf returns the Codex home that a rollout is in, and false if there is none.
func homeOf(file string) (string, bool) {
	below := below(file)
	if home, ok := strings.CutSuffix(file, "/"+below); ok && below != path.Base(file) {
		return home, true
	}
	return "", false
}
