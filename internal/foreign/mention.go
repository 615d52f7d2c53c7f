package foreign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxMention is how much of a -wal, and how many pages of a schema, are looked
// through for a name.
const (
	maxMention = 64 << 20
	maxSchema  = 1000
)

// Mentions reports whether the schema of the database at path, or what its -wal
// has that is new, has name in it: so that one which cannot have a table need
// not be copied. Only these pages are read, where they lie. What cannot be read
// as a database mentions nothing.
//
// Errors are those of opening and reading the file.
func Mentions(path, name string) (bool, error) {
	if found, err := inFile(path, name, inSchema); found || err != nil {
		return found, err
	}
	found, err := inFile(path+"-wal", name, func(f *os.File, name []byte) (bool, error) {
		b, err := io.ReadAll(io.LimitReader(f, maxMention))
		return bytes.Contains(b, name), err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

func inFile(path, name string, look func(*os.File, []byte) (bool, error)) (_ bool, err error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	return look(f, []byte(name))
}

// pageInterior is the kind of page in a table's tree that points to others
// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
const pageInterior = 5

// inSchema looks through the tree of sqlite_schema, which begins on page 1.
func inSchema(f *os.File, name []byte) (bool, error) {
	head := make([]byte, 100)
	if n, err := f.ReadAt(head, 0); n < len(head) || string(head[:16]) != "SQLite format 3\x00" {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, err
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 65536
	}
	if size < 512 || size&(size-1) != 0 {
		return false, nil
	}
	page, next := make([]byte, size), []uint32{1}
	for i := 0; i < len(next) && i < maxSchema; i++ {
		if n, err := f.ReadAt(page, int64(next[i]-1)*size); n < len(page) {
			if err != nil && !errors.Is(err, io.EOF) {
				return false, err
			}
			continue
		}
		if bytes.Contains(page, name) {
			return true, nil
		}
		next = append(next, children(page, next[i])...)
	}
	return false, nil
}

// children returns the pages that an interior page points to.
func children(page []byte, number uint32) (all []uint32) {
	at := 0
	if number == 1 {
		at = 100
	}
	if page[at] != pageInterior {
		return nil
	}
	cells := int(binary.BigEndian.Uint16(page[at+3:]))
	add := func(from int) {
		if from+4 <= len(page) {
			if n := binary.BigEndian.Uint32(page[from:]); n > 1 {
				all = append(all, n)
			}
		}
	}
	for i := 0; i < min(cells, maxSchema) && at+14+2*i <= len(page); i++ {
		add(int(binary.BigEndian.Uint16(page[at+12+2*i:])))
	}
	add(at + 8)
	return all
}
