//go:build unix

package sqlite

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// A fileID distinguishes a file from all others while it is open.
type fileID struct{ device, inode uint64 }

// identify returns the ID of the file that a name leads to, without opening it.
func identify(name string) (fileID, error) {
	var st unix.Stat_t
	for {
		err := unix.Stat(name, &st)
		if err == unix.EINTR { //nolint:errorlint // a plain number
			continue
		}
		if err != nil {
			return fileID{}, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		return fileID{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // the types differ between systems
	}
}
