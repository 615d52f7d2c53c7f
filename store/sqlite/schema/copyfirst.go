package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/skein-dev/skein/store/sqlite/copies"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
)

// notWhole is the suffix of the name of an incomplete copy.
const notWhole = ".tmp"

// copyFirst copies the file before the migration from version v, and returns
// the copy's path. The caller keeps all others from writing.
func copyFirst(path string, v int64, steps Steps, notice func(string)) (to string, err error) {
	to, there, err := copyName(path, v)
	if err != nil || there {
		return to, err
	}
	if notice != nil {
		notice(fmt.Sprintf("migrating %s from schema %d to %d; a copy is in %s", path, v, steps.Version(), to))
	}
	tmp := to + notWhole
	if err := copies.Remove(tmp); err != nil { // left by a process that was killed
		return "", err
	}
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if err := errors.Join(f.Close(), copyWhole(path, tmp)); err != nil {
		return "", errors.Join(err, copies.Remove(tmp))
	}
	return to, os.Rename(tmp, to)
}

// copyName returns where to copy the file, and whether an earlier attempt
// already copied it there and it has not been written to since.
func copyName(path string, v int64) (name string, there bool, err error) {
	name = fmt.Sprintf("%s.v%d.bak", path, v)
	for n := 2; ; n++ {
		st, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, false, nil
		}
		if err != nil {
			return "", false, err
		}
		if there, err = unchangedSince(path, st); err != nil || there {
			return name, there, err
		}
		name = fmt.Sprintf("%s.v%d-%d.bak", path, v, n)
	}
}

// unchangedSince reports whether neither the file nor its log was written to
// after the copy.
func unchangedSince(path string, copied fs.FileInfo) (bool, error) {
	for _, name := range []string{path, path + "-wal"} {
		st, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, err
		case st.Size() > 0 && st.ModTime().After(copied.ModTime()):
			return false, nil
		}
	}
	return true, nil
}

// copyWhole copies the file to an empty one. It uses a connection of its own,
// because VACUUM cannot run in a transaction.
func copyWhole(path, to string) error {
	d, err := engine.Driver()
	if err != nil {
		return err
	}
	c, err := engine.Connect(d, engine.DSN(path, "mode=ro"), "PRAGMA busy_timeout = 5000")
	if err != nil {
		return err
	}
	_, _, err = c.Exec("VACUUM INTO ?", to)
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	return files.Sync(to)
}
