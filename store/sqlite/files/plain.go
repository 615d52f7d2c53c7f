package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
)

// Plain refuses anything but a regular file: SQLite would report a
// directory as a disk error, and would block reading from a pipe. The error
// wraps [skein.ErrInvalid], or is that of the system.
func Plain(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%w file: a folder", skein.ErrInvalid)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%w file: not a regular file (%s)", skein.ErrInvalid, st.Mode().Type())
	}
	return nil
}

// Make creates the file and its folder with rights for the owner only,
// because SQLite would create them for everybody. SQLite gives -wal and -shm
// the mode of the file. The error is that of the system.
func Make(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close() // no connection can have locks on a file that did not exist
}

// Sync waits until a file, which no connection has open, is on the disk. The error is
// that of the system.
func Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // no connection has this file open
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
