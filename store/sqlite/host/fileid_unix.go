//go:build unix

package host

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// A FileID distinguishes a file from all others while it is open.
type FileID struct{ Device, Inode uint64 }

// Identify returns the ID of the file that a name leads to, without opening it. Errors are
// those of the file system.
func Identify(name string) (FileID, error) {
	var st unix.Stat_t
	for {
		err := unix.Stat(name, &st)
		if err == unix.EINTR { //nolint:errorlint // a plain number
			continue
		}
		if err != nil {
			return FileID{}, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
		return FileID{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // the types differ between systems
	}
}
