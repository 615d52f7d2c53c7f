//go:build !windows

package host

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadOnlyFS reports whether err says that the file system is read-only.
func ReadOnlyFS(err error) bool { return errors.Is(err, syscall.EROFS) }

// MayRead returns the system's error if this process has no right to read the file at
// path. It opens nothing.
func MayRead(path string) error {
	if err := unix.Access(path, unix.R_OK); errors.Is(err, unix.EACCES) {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}
