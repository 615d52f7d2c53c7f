//go:build linux || windows

package sqlite

import "path/filepath"

// wakePlace returns the folder to watch, and the file in it whose writes are commits.
func wakePlace(db string) (dir, file string) {
	return filepath.Dir(db), filepath.Base(db) + "-wal"
}

// touchWake does nothing: it is for systems that must open a file to watch its
// writes.
func touchWake(string) {}
