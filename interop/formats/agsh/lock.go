package agsh

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
)

// lock makes sure that the program does not have a session open. Up to 0.11 its PID
// is in locked_by: another user's process counts as alive, which the program itself
// does not see. Our own PID is not written there: a row that changes while ours are
// added is noticed in the same transaction. Later versions lock a file, which is held
// until unlock.
func lock(ctx context.Context, path, name string) (unlock func() error, err error) {
	at, err := lookAt(ctx, path)
	if err != nil {
		return nil, err
	}
	if slices.Contains(at.columns["sessions"], "locked_by") {
		if r := at.rows[name]; r != nil {
			if err := free(r.Text("locked_by"), name); err != nil {
				return nil, err
			}
		}
		return func() error { return nil }, nil
	}
	dir := filepath.Join(filepath.Dir(path), "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := flock.New(filepath.Join(dir, url.PathEscape(name)+".lock"))
	ok, err := f.TryLock()
	if err != nil || !ok {
		return nil, errors.Join(locked(name, "another process"), err)
	}
	return f.Unlock, nil
}

// free reports an error if the process that has a session open is alive.
func free(holder, name string) error {
	// A value that is not a number becomes 0: the program also takes it for a dead
	// process.
	if n, _ := strconv.Atoi(holder); n > 0 && n != os.Getpid() && alive(n) {
		return locked(name, "PID "+holder)
	}
	return nil
}

func locked(name, by string) error {
	return fmt.Errorf("%w: session %s by %s", skein.ErrLocked, name, by)
}
