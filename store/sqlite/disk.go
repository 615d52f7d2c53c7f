package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
	"github.com/skein-dev/skein/store/sqlite/host"
)

// fewPages is the share of the file that may be free before it is reported.
const fewPages = 4 // a quarter

// disk reports how large the file is and whether there is room for it to grow.
func (ex *exam) disk(area string) error {
	var pages, free, size int64
	err := ex.read(func(c *engine.Conn) error {
		for _, q := range []struct {
			pragma string
			to     *int64
		}{{"PRAGMA page_count", &pages}, {"PRAGMA freelist_count", &free}, {"PRAGMA page_size", &size}} {
			if _, err := c.One(q.pragma, nil, q.to); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if free > 256 && free > pages/fewPages {
		err := ex.Mend(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("%[2]s of the file's %[1]s are free", inUnits(pages*size), inUnits(free*size))},
			func() error { return cleaner{ex.s.core}.sweep(ex.ctx) })
		if err != nil {
			return err
		}
	}
	room, known := host.FreeSpace(filepath.Dir(ex.s.path))
	switch {
	case !known:
		ex.Fine(area, "the file has %s", inUnits(pages*size))
	case room < 256<<20 || room < pages*size/10:
		ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("the file has %s, the disk has room for %s more", inUnits(pages*size), inUnits(room))})
	default:
		ex.Fine(area, "the file has %s, the disk has room for %s more", inUnits(pages*size), inUnits(room))
	}
	return nil
}

// inUnits formats a number of bytes for people: 980 B, 336.0 KB, 1.3 GB, in
// powers of 1000.
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

// permissions checks whether others can read what belongs to the owner.
func (ex *exam) permissions(area string) error {
	seen, err := ex.folderRights(area)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm", files.PairSuffix, reserveSuffix} {
		if err := ex.ownerOnly(area, ex.s.path+suffix, 0o600); err != nil {
			return err
		}
	}
	ex.Fine(area, "only the owner can read the store%s", seen)
	return nil
}

// ownerOnly removes other users' rights to a file or folder.
func (ex *exam) ownerOnly(area, path string, mode fs.FileMode) error {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !host.OthersMay(st) {
		return nil
	}
	if err != nil {
		return err
	}
	return ex.Mend(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("%s has the mode %04o, so others can read it; want %04o", path, st.Mode().Perm(), mode)},
		func() error { return os.Chmod(path, mode) })
}

// folderRights returns what else to report about the folder. It changes only a folder
// of the program's own: any other, such as /tmp, may need the rights it has.
func (ex *exam) folderRights(area string) (seen string, err error) {
	dir := filepath.Dir(ex.s.path)
	st, err := os.Stat(dir)
	if err != nil || !host.OthersMay(st) {
		return "", err
	}
	if dir == ex.folder && st.Mode()&fs.ModeSticky == 0 {
		return "", ex.ownerOnly(area, dir, 0o700)
	}
	if st.Mode().Perm()&0o022 != 0 && st.Mode()&fs.ModeSticky == 0 {
		ex.Find(inspect.Finding{Area: area, Level: inspect.Warning, Text: fmt.Sprintf("%s has the mode %04o, so others can remove and replace the store in it; skein changes only folders of its own", dir, st.Mode().Perm())})
	}
	return fmt.Sprintf("; others can see it in %s, which has the mode %04o and is not skein's own", dir, st.Mode().Perm()), nil
}
