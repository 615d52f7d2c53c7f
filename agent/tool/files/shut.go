package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A shut is the set of files that must not be opened.
type shut []fs.FileInfo

// shut returns the files that must not be opened, as far as they exist.
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

// has reports whether s is one of those files, under any name.
func (all shut) has(s fs.FileInfo) bool {
	return slices.ContainsFunc(all, func(o fs.FileInfo) bool { return os.SameFile(o, s) })
}

// remembers reports whether p is a file that the tool remember writes, under any name;
// was is the file there, nil if there is none.
func (o Options) remembers(p place, was fs.FileInfo) bool {
	if o.Memory == "" {
		return false
	}
	return slices.ContainsFunc([]string{"USER.md", "MEMORY.md"}, func(name string) bool {
		real, err := follow(filepath.Join(o.Memory, name))
		is, serr := os.Stat(real)
		return err == nil && strings.EqualFold(real, p.real) || serr == nil && was != nil && os.SameFile(is, was)
	})
}

// err returns the model's error for p if s, the file there, is one of them.
func (all shut) err(p place, s fs.FileInfo) error {
	if all.has(s) {
		return fmt.Errorf("%s is a database that is in use; to look into it, use session_search and session_read", p.named)
	}
	return nil
}
