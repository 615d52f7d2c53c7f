package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
)

// locks are the leases that this process holds: a kernel lock on a file for
// each session and epoch, in a folder beside the database. A lock ends with its
// process, however that ends, and stays while the process is stopped.
type locks struct {
	dir string

	mu   sync.Mutex
	held map[skein.SessionID]*heldLock
}

type heldLock struct {
	epoch skein.Fence
	file  *flock.Flock
}

func newLocks(db string) *locks {
	return &locks{dir: db + "-locks", held: map[skein.SessionID]*heldLock{}}
}

// name returns the file of a session's epoch. The ID is hashed, because it may
// have characters that a file name may not have.
func (l *locks) name(id skein.SessionID, epoch skein.Fence) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(l.dir, fmt.Sprintf("%s-%d.lock", hex.EncodeToString(sum[:16]), epoch))
}

// take locks the file of an epoch; it returns false if another process has it locked.
func (l *locks) take(id skein.SessionID, epoch skein.Fence) (bool, error) {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return false, err
	}
	f := flock.New(l.name(id, epoch), flock.SetPermissions(0o600))
	got, err := f.TryLock()
	if err != nil || !got {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.held[id]; old != nil {
		err = old.file.Close()
	}
	l.held[id] = &heldLock{epoch, f}
	return true, err
}

// alive reports whether some process holds the lock of an epoch.
func (l *locks) alive(id skein.SessionID, epoch skein.Fence) (bool, error) {
	if l.mine(id, epoch) {
		return true, nil
	}
	name := l.name(id, epoch)
	if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	// The lock is shared, so that one process that checks does not look like a
	// holder to another.
	f := flock.New(name, flock.SetPermissions(0o600))
	got, err := f.TryRLock()
	if err != nil {
		return false, err
	}
	return !got, f.Close()
}

// sweep removes the files that are not in keep and that no process has locked.
func (l *locks) sweep(keep map[string]bool) error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(l.dir, e.Name())
		if keep[name] || !strings.HasSuffix(name, ".lock") {
			continue
		}
		f := flock.New(name, flock.SetPermissions(0o600))
		got, err := f.TryLock()
		if err != nil {
			return err
		}
		if !got {
			continue
		}
		if err := errors.Join(os.Remove(name), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// mine reports whether this store holds the lock of an epoch.
func (l *locks) mine(id skein.SessionID, epoch skein.Fence) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[id]
	return h != nil && h.epoch == epoch
}

// drop releases the lock of an epoch, if it is held.
func (l *locks) drop(id skein.SessionID, epoch skein.Fence) error {
	l.mu.Lock()
	h := l.held[id]
	if h == nil || h.epoch != epoch {
		l.mu.Unlock()
		return nil
	}
	delete(l.held, id)
	l.mu.Unlock()
	return errors.Join(h.file.Close(), l.remove(id, epoch))
}

// remove removes the file of an epoch that is over. A process that still has it
// locked keeps a file without a name.
func (l *locks) remove(id skein.SessionID, epoch skein.Fence) error {
	err := os.Remove(l.name(id, epoch))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil // on Windows a locked file stays until its holder ends
	}
	return err
}

func (l *locks) all() map[skein.SessionID]skein.Fence {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := map[skein.SessionID]skein.Fence{}
	for id, h := range l.held {
		m[id] = h.epoch
	}
	return m
}

// close releases all locks.
func (l *locks) close() error {
	var errs []error
	for id, epoch := range l.all() {
		errs = append(errs, l.drop(id, epoch))
	}
	return errors.Join(errs...)
}
