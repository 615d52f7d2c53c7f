//go:build linux || windows

package sqlite

import "path/filepath"

// wakePlace returns the folder to be told of, and the file in it whose writes
// are commits.
func wakePlace(db string) (dir, file string) {
	return filepath.Dir(db), filepath.Base(db) + "-wal"
}

// touchWake is for systems that tell of no file's writes without opening it.
func touchWake(string) {}
