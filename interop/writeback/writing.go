package writeback

import (
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop/disk"
)

// Between the moment when a source has been written and the one when the store
// knows what was written, an import must not mistake it for the program's own.
// A sync holds a lease on the source until both are done; an export first writes
// a side file that says what is being written.

// leftFor is how long files must be unchanged to count as left behind by a process that
// was killed. No live process takes so long; one that slept with its machine fails
// afterward, and leaves its source unchanged.
const leftFor = time.Hour

// sweep removes the temporary files around a source whose writer was killed. The lease
// of the source is held, but another source there may be being written, so only old
// files are removed. What cannot be removed stays.
func sweep(unit string, around []string) {
	dirs := append([]string{filepath.Dir(unit)}, around...)
	if info, err := os.Lstat(unit); err == nil && info.IsDir() {
		dirs = append(dirs, unit)
	}
	for i, dir := range dirs {
		sweepIn(dir, i > 0)
	}
}

func sweepIn(dir string, below bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }()
	var old []string
	deep := 0
	if below {
		deep = disk.MaxFolders
	}
	find(root, ".", deep, &old)
	for _, name := range old {
		_ = root.RemoveAll(name)
	}
}

// find adds what is left behind in a folder and its subfolders.
func find(root *os.Root, dir string, deep int, old *[]string) {
	d, err := root.Open(dir)
	if err != nil {
		return
	}
	entries, _ := d.ReadDir(-1)
	_ = d.Close()
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || !info.IsDir() && !info.Mode().IsRegular():
		case folder.IsOurs(e.Name()):
			if time.Since(info.ModTime()) > leftFor {
				*old = append(*old, name)
			}
		case info.IsDir() && deep > 0:
			find(root, name, deep-1, old)
		}
	}
}
