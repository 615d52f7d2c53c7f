package interop

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
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
func (im *importer) gather(found []candidate, roots []string) (files []candidate, units []unitFound) {
	groups := map[string][]candidate{}
	formats := map[string][]*Format{}
	for _, c := range found {
		if isSide(c.path) {
			continue
		}
		if shadowed(c.path, roots) {
			im.rep.skip(c.path, "the same without its ending lies beside it and is read instead")
			continue
		}
		fs, u := im.unitOf(c.path)
		if u == "" {
			files = append(files, c)
			continue
		}
		groups[u], formats[u] = append(groups[u], c), fs
	}
	for u, in := range groups {
		cs := slices.Clone(in)
		if !slices.ContainsFunc(roots, func(root string) bool { return root != u && within(root, u) }) {
			cs = im.unitFiles(u)
		}
		c, ok := together(u, cs)
		in = slices.DeleteFunc(in, func(c candidate) bool { return c == candidate{path: c.path} }) // it is gone
		switch {
		case !ok:
			files = append(files, in...)
		case im.strange[u] != c:
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

// unitFiles returns the files of a unit.
func (im *importer) unitFiles(unit string) (cs []candidate) {
	add := func(path string) {
		if _, u := im.unitOf(path); u == unit {
			if c, ok := look(path); ok {
				cs = append(cs, c)
			}
		}
	}
	if info, err := os.Lstat(unit); err != nil || !info.IsDir() {
		for _, suffix := range []string{"", "-wal", "-journal"} {
			add(unit + suffix)
		}
		for _, dir := range im.around(unit) {
			eachFile(dir, add)
		}
		return cs
	}
	eachFile(unit, add)
	return cs
}

// around returns the folders that contain files of a unit that is itself a file.
func (im *importer) around(unit string) (dirs []string) {
	fs, _ := im.unitOf(unit)
	for _, f := range fs {
		if f.Around != nil {
			for _, dir := range f.Around(filepath.ToSlash(unit)) {
				dirs = append(dirs, filepath.FromSlash(dir))
			}
		}
	}
	return dirs
}

func eachFile(dir string, add func(path string)) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			add(path)
		}
		return nil // what cannot be read now is found when the unit is
	})
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
func (im *importer) planUnits(units []unitFound, p *Progress) (works []planned) {
	for _, u := range units {
		known, ok := im.files[u.path]
		if ok && known.unchanged(u.candidate) && im.format(known.Format) != nil {
			im.rep.Files++
			im.rep.Unchanged++
			continue
		}
		if im.elsewhere(u) {
			im.fallen = append(im.fallen, u.files)
			continue
		}
		im.rep.Files++
		works = append(works, planned{format: u.formats[0], now: u.candidate, unit: &opened{path: u.path, formats: im.mayBe(u), files: u.files}})
		p.Of++
		p.Size += u.size
	}
	return works
}

// elsewhere reports whether all files of a unit, which were grouped by their paths,
// belong to other formats by their content.
func (im *importer) elsewhere(u unitFound) bool {
	for _, c := range u.files {
		m := im.judged(c.path)
		sure := m.guess.Sure == Known || m.guess.Sure == Alike || m.documents != nil && c.path != u.path
		if !sure || slices.Contains(u.formats, m.format) {
			return false
		}
	}
	return len(u.files) > 0
}

// judged returns what the formats make of the file at path; nothing if it cannot be
// read, which is reported when it is imported.
func (im *importer) judged(path string) match {
	file, _, err := open(path)
	if err != nil {
		return match{}
	}
	defer file.Close()
	b, ok, err := plainHead(path, file)
	if err != nil || !ok || len(b) == 0 {
		return match{}
	}
	return judge(im.formats, filepath.ToSlash(plain(path)), b)
}

// mayBe returns the formats that may know a unit: those that know its path and, for
// a unit that is a file, also those that know it by its content.
func (im *importer) mayBe(u unitFound) []*Format {
	m := im.judged(u.path)
	first, last := u.formats, m.documents
	if m.guess.Sure == Known {
		first, last = last, first
	}
	return slices.Concat(first, slices.DeleteFunc(slices.Clone(last), func(f *Format) bool { return slices.Contains(first, f) }))
}
