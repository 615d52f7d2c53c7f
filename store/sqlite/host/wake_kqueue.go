//go:build !linux && !windows

package host

import (
	"os"
	"path/filepath"
)

// WakePlace returns the folder to watch, and the file in it whose writes are
// commits. To watch a folder, kqueue opens all files in it, and closing the
// database file would drop SQLite's locks: so there is a separate folder, which
// watchers create, with a file that commits write to.
func WakePlace(db string) (dir, file string) {
	dir, file = db+"-wake", "commit"
	if err := os.MkdirAll(dir, 0o700); err == nil {
		f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			_ = f.Close() //nolint:errcheck // nothing was written
		}
	}
	return dir, file
}

// TouchWake notifies watchers in other processes of a commit.
func TouchWake(db string) {
	f, err := os.OpenFile(filepath.Join(db+"-wake", "commit"), os.O_WRONLY, 0)
	if err != nil {
		return // nobody has ever watched
	}
	_, _ = f.WriteAt([]byte{'.'}, 0) //nolint:errcheck // they look again at the next commit
	_ = f.Close()                    //nolint:errcheck // the same
}
