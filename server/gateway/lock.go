package gateway

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
)

// lockInbox locks the inbox for one gateway: two would answer each message
// twice. The kernel releases the lock when the process ends, for whatever
// reason.
//
// The error wraps [skein.ErrLocked] if another process has it.
func lockInbox(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(dir, ".lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if !got {
		return nil, errors.Join(fmt.Errorf("%w: another gateway already serves it; end that gateway, or skein serve --gateway", skein.ErrLocked), lock.Close())
	}
	return lock, nil
}
