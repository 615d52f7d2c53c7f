package hooknews

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockName is the file that the process that imports what a board says has locked.
const lockName = ".lock"

// statusName is the file that says how that process gets on.
const statusName = ".watcher"

// Lock makes this process the one that imports what the board says, until unlock or
// its end, however it ends. ok is false if another process is.
//
// The error is the file system's.
func (b Board) Lock() (unlock func() error, ok bool, err error) {
	if err := os.MkdirAll(string(b), 0o700); err != nil {
		return nil, false, err
	}
	l := flock.New(filepath.Join(string(b), lockName), flock.SetPermissions(0o600))
	if ok, err = l.TryLock(); err != nil || !ok {
		return nil, false, errors.Join(err, l.Close())
	}
	return l.Close, true, nil
}

// Watched reports whether a process has the lock of the board. It never waits.
func (b Board) Watched() bool {
	name := filepath.Join(string(b), lockName)
	if _, err := os.Stat(name); err != nil {
		return false
	}
	l := flock.New(name, flock.SetPermissions(0o600)) // shared: two that ask at once are no watcher
	free, err := l.TryRLock()
	return errors.Join(err, l.Close()) == nil && !free
}

// A Status is how the watcher of a machine gets on.
type Status struct {
	PID   int       `json:"pid"`
	Since time.Time `json:"since"` // when it started

	Ready bool  `json:"ready"`          // the first import is over
	Bytes int64 `json:"bytes,omitzero"` // of the first import: done
	Size  int64 `json:"size,omitzero"`  // of the first import: all

	At    time.Time `json:"at"`              // when it last imported something
	Broke string    `json:"broke,omitempty"` // the newest failure, with its path
	When  time.Time `json:"when,omitzero"`   // of that
}

// SetStatus keeps how the watcher gets on. The error is the file system's.
func (b Board) SetStatus(s Status) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(b), 0o700); err != nil {
		return err
	}
	return replace(filepath.Join(string(b), statusName), text)
}

// Status returns how the watcher gets on, or got on if none runs; false if there
// never was one. The error is the file system's.
func (b Board) Status() (s Status, known bool, err error) {
	text, err := os.ReadFile(filepath.Join(string(b), statusName))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err == nil, err
}
