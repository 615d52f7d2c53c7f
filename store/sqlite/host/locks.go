package host

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

// Locks are the leases that this process holds: a kernel lock on a file for
// each session and epoch, in a folder beside the database. A lock ends with its
// process, however that ends, and stays while the process is stopped.
type Locks struct {
	Dir string // the folder of the files

	mu   sync.Mutex
	held map[skein.SessionID]*heldLock
}

type heldLock struct {
	epoch skein.Fence
	file  *flock.Flock
}

// NewLocks returns the locks of the database at path db.
func NewLocks(db string) *Locks {
	return &Locks{Dir: db + "-locks", held: map[skein.SessionID]*heldLock{}}
}

// Name returns the file of a session's epoch. The ID is hashed, because it may
// have characters that a file name may not have.
func (l *Locks) Name(id skein.SessionID, epoch skein.Fence) string {
	sum := sha256.Sum256([]byte(id))
	return filepath.Join(l.Dir, fmt.Sprintf("%s-%d.lock", hex.EncodeToString(sum[:16]), epoch))
}

// Take locks the file of an epoch; it returns false if another process has it locked.
// Errors are those of the file system.
func (l *Locks) Take(id skein.SessionID, epoch skein.Fence) (bool, error) {
	if err := os.MkdirAll(l.Dir, 0o700); err != nil {
		return false, err
	}
	f := flock.New(l.Name(id, epoch), flock.SetPermissions(0o600))
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

// Alive reports whether some process holds the lock of an epoch. Errors are those of
// the file system.
func (l *Locks) Alive(id skein.SessionID, epoch skein.Fence) (bool, error) {
	if l.mine(id, epoch) {
		return true, nil
	}
	name := l.Name(id, epoch)
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

// Sweep removes the files that are not in keep and that no process has locked. Errors
// are those of the file system.
func (l *Locks) Sweep(keep map[string]bool) error {
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(l.Dir, e.Name())
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
func (l *Locks) mine(id skein.SessionID, epoch skein.Fence) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.held[id]
	return h != nil && h.epoch == epoch
}

// Drop releases the lock of an epoch, if it is held. Errors are those of the file
// system.
func (l *Locks) Drop(id skein.SessionID, epoch skein.Fence) error {
	l.mu.Lock()
	h := l.held[id]
	if h == nil || h.epoch != epoch {
		l.mu.Unlock()
		return nil
	}
	delete(l.held, id)
	l.mu.Unlock()
	return errors.Join(h.file.Close(), l.Remove(id, epoch))
}

// Remove removes the file of an epoch that is over. A process that still has it
// locked keeps a file without a name. Errors are those of the file system.
func (l *Locks) Remove(id skein.SessionID, epoch skein.Fence) error {
	err := os.Remove(l.Name(id, epoch))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return nil // on Windows a locked file stays until its holder ends
	}
	return err
}

// All returns the epochs that this process holds.
func (l *Locks) All() map[skein.SessionID]skein.Fence {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := map[skein.SessionID]skein.Fence{}
	for id, h := range l.held {
		m[id] = h.epoch
	}
	return m
}

// Close releases all locks. Errors are those of the file system.
func (l *Locks) Close() error {
	var errs []error
	for id, epoch := range l.All() {
		errs = append(errs, l.Drop(id, epoch))
	}
	return errors.Join(errs...)
}
