package files

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// A shut is the files that must not be opened.
type shut []fs.FileInfo

// shut returns the files that must not be opened, as far as they are there.
func (o Options) shut() (all shut) {
	for _, path := range o.Shut {
		for _, end := range []string{"", "-wal", "-shm", "-journal"} {
			if s, err := os.Stat(path + end); err == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// has reports whether s is one of those files, by whatever name.
func (all shut) has(s fs.FileInfo) bool {
	return slices.ContainsFunc(all, func(o fs.FileInfo) bool { return os.SameFile(o, s) })
}

// err is what the model is told of p if s, what is there, is one of them.
func (all shut) err(p place, s fs.FileInfo) error {
	if all.has(s) {
		return fmt.Errorf("%s is a database that is in use: session_search and session_read look into it", p.named)
	}
	return nil
}
