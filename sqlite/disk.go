package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein"
)

// fewPages is the share of the file that may be free before it is said.
const fewPages = 4 // a quarter

// disk says how large the file is and whether there is room for it to grow.
func (ex *exam) disk(area string) error {
	var pages, free, size int64
	err := ex.read(func(c *conn) error {
		for _, q := range []struct {
			pragma string
			to     *int64
		}{{"PRAGMA page_count", &pages}, {"PRAGMA freelist_count", &free}, {"PRAGMA page_size", &size}} {
			if _, err := c.one(q.pragma, nil, q.to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if free > 256 && free > pages/fewPages {
		err := ex.Mend(skein.Finding{Area: area, Level: skein.Warning, Text: fmt.Sprintf("of the file's %s %s are free", inUnits(pages*size), inUnits(free*size))},
			func() error { return ex.s.sweep(ex.ctx) })
		if err != nil {
			return err
		}
	}
	room, known := freeSpace(filepath.Dir(ex.s.path))
	switch {
	case !known:
		ex.Fine(area, "the file has %s", inUnits(pages*size))
	case room < 256<<20 || room < pages*size/10:
		ex.Find(skein.Finding{Area: area, Level: skein.Warning, Text: fmt.Sprintf("the file has %s, the disk has room for %s more", inUnits(pages*size), inUnits(room))})
	default:
		ex.Fine(area, "the file has %s, the disk has room for %s more", inUnits(pages*size), inUnits(room))
	}
	return nil
}

// inUnits returns a number of bytes for people: 980 B, 336.0 KB, 1.3 GB, in
// thousands.
func inUnits(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/1000, 0
	for ; v >= 999.95 && unit < 3; unit++ {
		v /= 1000
	}
	return fmt.Sprintf("%.1f %s", v, [...]string{"KB", "MB", "GB", "TB"}[unit])
}

// permissions looks whether others can read what is the owner's.
func (ex *exam) permissions(area string) error {
	for _, p := range []struct {
		path string
		mode fs.FileMode
	}{{filepath.Dir(ex.s.path), 0o700}, {ex.s.path, 0o600}, {ex.s.path + "-wal", 0o600}, {ex.s.path + "-shm", 0o600}} {
		st, err := os.Stat(p.path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !othersMay(st) {
			continue
		}
		if err != nil {
			return err
		}
		err = ex.Mend(skein.Finding{Area: area, Level: skein.Warning, Text: fmt.Sprintf("%s has the mode %04o, so others can look into it; want %04o", p.path, st.Mode().Perm(), p.mode)},
			func() error { return os.Chmod(p.path, p.mode) })
		if err != nil {
			return err
		}
	}
	ex.Fine(area, "only the owner can read the store")
	return nil
}
