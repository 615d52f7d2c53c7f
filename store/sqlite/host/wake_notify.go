//go:build linux || windows

package host

import "path/filepath"

// WakePlace returns the folder to watch, and the file in it whose writes are commits.
func WakePlace(db string) (dir, file string) {
	return filepath.Dir(db), filepath.Base(db) + "-wal"
}

// TouchWake does nothing: it is for systems that must open a file to watch its
// writes.
func TouchWake(string) {}
