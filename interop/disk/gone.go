package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// IsGone reports whether what was at path, below the folder root, has been removed. It
// last changed at mtime, in nanoseconds since 1970.
//
// That nothing is found there does not suffice: its disk may not be mounted. What was
// removed changed its folder, or the nearest one above that is left, since then; the
// folder in whose place a disk is mounted is older than what is on it, and root is empty
// if it is one. A folder that cannot be read, or does not exist, says nothing.
func IsGone(root, path string, mtime int64) bool {
	if _, err := os.Lstat(path); !IsMissing(err) || path == root || !Within(root, path) {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return info.ModTime().UnixNano() >= mtime && isRead(dir, dir == root)
		case dir == root, err != nil && !IsMissing(err):
			return false
		}
	}
}

// isRead reports whether a folder can be read and, if asked, whether it has an entry.
func isRead(dir string, filled bool) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return err == nil || !filled && errors.Is(err, io.EOF)
}
