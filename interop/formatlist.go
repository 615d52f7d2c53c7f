package interop

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A formatList are the formats that an import knows.
type formatList []Format

// format returns the format of this name; nil if there is none.
func (list formatList) format(name string) *Format {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// unitOf returns the formats whose Unit knows the file at path, and the unit that the
// first of them returns; "" if there are none. A packed file is a unit if, unpacked,
// it would be all of one.
func (list formatList) unitOf(path string) (fs []*Format, unit string) {
	if name, packed := PlainName(path); packed {
		if fs, unit = list.plainUnitOf(name); unit == name {
			return fs, path
		}
	}
	return list.plainUnitOf(path)
}

func (list formatList) plainUnitOf(path string) (fs []*Format, unit string) {
	for i := range list {
		if f := &list[i]; f.Unit != nil {
			u := f.Unit(filepath.ToSlash(path))
			if u == "" || unit != "" && u != unit {
				continue
			}
			unit = u
			fs = append(fs, f)
		}
	}
	return fs, filepath.FromSlash(unit)
}

// unitFiles returns the files of a unit.
func (list formatList) unitFiles(unit string) (cs []candidate) {
	add := func(path string) {
		if _, u := list.unitOf(path); u == unit {
			if c, ok := look(path); ok {
				cs = append(cs, c)
			}
		}
	}
	if info, err := os.Lstat(unit); err != nil || !info.IsDir() {
		for _, suffix := range []string{"", "-wal", "-journal"} {
			add(unit + suffix)
		}
		for _, dir := range list.around(unit) {
			eachFile(dir, add)
		}
		return cs
	}
	eachFile(unit, add)
	return cs
}

// around returns the folders that contain files of a unit that is itself a file.
func (list formatList) around(unit string) (dirs []string) {
	fs, _ := list.unitOf(unit)
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

// elsewhere reports whether all files of a unit, which were grouped by their paths,
// belong to other formats by their content.
func (list formatList) elsewhere(u unitFound) bool {
	for _, c := range u.files {
		m := list.judged(c.path)
		sure := m.guess.Sure == Known || m.guess.Sure == Alike || m.documents != nil && c.path != u.path
		if !sure || slices.Contains(u.formats, m.format) {
			return false
		}
	}
	return len(u.files) > 0
}

// judged returns what the formats make of the file at path; nothing if it cannot be
// read, which is reported when it is imported.
func (list formatList) judged(path string) match {
	file, _, err := open(path)
	if err != nil {
		return match{}
	}
	defer file.Close()
	b, ok, err := plainHead(path, file)
	if err != nil || !ok || len(b) == 0 {
		return match{}
	}
	return judge(list, filepath.ToSlash(plain(path)), b)
}

// mayBe returns the formats that may know a unit: those that know its path and, for
// a unit that is a file, also those that know it by its content.
func (list formatList) mayBe(u unitFound) []*Format {
	m := list.judged(u.path)
	first, last := u.formats, m.documents
	if m.guess.Sure == Known {
		first, last = last, first
	}
	return slices.Concat(first, slices.DeleteFunc(slices.Clone(last), func(f *Format) bool { return slices.Contains(first, f) }))
}
