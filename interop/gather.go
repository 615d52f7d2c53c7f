package interop

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A unitFound is a unit some of whose files were found.
type unitFound struct {
	candidate
	formats []*Format
	files   []candidate // the files of it that were found
}

// gather groups the files that belong to units, and returns the others unchanged.
// roots is where the files were found, if that is all of them.
func (pl *planner) gather(found []candidate, roots []string) (files []candidate, units []unitFound) {
	groups := map[string][]candidate{}
	formats := map[string][]*Format{}
	for _, c := range found {
		if isSide(c.path) {
			continue
		}
		if shadowed(c.path, roots) {
			pl.im.rep.skip(c.path, "the same without its ending lies beside it and is read instead")
			continue
		}
		fs, u := pl.im.formats.unitOf(c.path)
		if u == "" {
			files = append(files, c)
			continue
		}
		groups[u], formats[u] = append(groups[u], c), fs
	}
	for u, in := range groups {
		cs := slices.Clone(in)
		if !slices.ContainsFunc(roots, func(root string) bool { return root != u && within(root, u) }) {
			cs = pl.im.formats.unitFiles(u)
		}
		c, ok := together(u, cs)
		in = slices.DeleteFunc(in, func(c candidate) bool { return c == candidate{path: c.path} }) // it is gone
		switch {
		case !ok:
			files = append(files, in...)
		case pl.strange[u] != c:
			units = append(units, unitFound{c, formats[u], in})
		}
	}
	slices.SortFunc(units, func(a, b unitFound) int { return byUnit(a.candidate, b.candidate) })
	return files, units
}

// byUnit sorts units: the oldest first, but a unit inside another comes after
// that one.
func byUnit(a, b candidate) int {
	switch {
	case within(a.path, b.path):
		return -1
	case within(b.path, a.path):
		return 1
	}
	return cmp.Or(cmp.Compare(a.mtime, b.mtime), cmp.Compare(a.path, b.path))
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// together returns a unit as a candidate: with the total size and latest change of its
// files, and a hash of them, and of its folder's time, for its inode. It returns false
// without any file or, for a unit that is itself a file, without that file.
func together(unit string, cs []candidate) (candidate, bool) {
	slices.SortFunc(cs, func(a, b candidate) int { return cmp.Compare(a.path, b.path) })
	h := sha256.New()
	c := candidate{path: unit}
	folder, itself := true, false
	for _, f := range cs {
		if f.path == unit {
			folder, itself = false, true
		} else if strings.HasPrefix(f.path, unit+"-") {
			folder = false
		}
		if strings.HasSuffix(f.path, "-shm") && !folder {
			continue // readers change it
		}
		c.size += f.size
		c.mtime = max(c.mtime, f.mtime)
		fmt.Fprintf(h, "%s\x00%d\x00%d\x00%d\x00", f.path, f.size, f.mtime, f.inode)
	}
	if info, err := os.Lstat(unit); err == nil && info.IsDir() { // its time may be among what is read
		fmt.Fprintf(h, "%d\x00", info.ModTime().UnixNano())
	}
	c.inode = binary.BigEndian.Uint64(h.Sum(nil)) >> 1 // stores keep 63 bits
	return c, len(cs) > 0 && (folder || itself)
}

// planUnits picks the units that are to be read.
func (pl *planner) planUnits(units []unitFound, p *Progress) (works []planned) {
	for _, u := range units {
		known, ok := pl.im.known.files[u.path]
		if ok && known.unchanged(u.candidate) && pl.im.formats.format(known.Format) != nil {
			pl.im.rep.Files++
			pl.im.rep.Unchanged++
			continue
		}
		if pl.im.formats.elsewhere(u) {
			pl.fallen = append(pl.fallen, u.files)
			continue
		}
		pl.im.rep.Files++
		works = append(works, planned{format: u.formats[0], now: u.candidate, unit: &opened{path: u.path, formats: pl.im.formats.mayBe(u), files: u.files}})
		p.Of++
		p.Size += u.size
	}
	return works
}
