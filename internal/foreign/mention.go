package foreign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// maxMention is how much of a -wal, and how many pages of a schema, are searched for a
// name.
const (
	maxMention = 64 << 20
	maxSchema  = 1000
)

// storeMark is the application ID of skein's own stores, and markAt its offset in the
// header of a database (https://www.sqlite.org/fileformat2.html#application_id).
const (
	storeMark = "Ske1"
	markAt    = 68
	headerLen = 100
)

// IsStore reports whether a database that begins with head is one of skein's stores.
func IsStore(head []byte) bool {
	return len(head) >= headerLen && string(head[markAt:markAt+len(storeMark)]) == storeMark
}

// Mentions reports whether the schema of the database at path, or its -wal, has one
// of these names in it, so that a database that cannot have a table need not be
// copied. It reads only these pages, in place. It returns false for a file that cannot
// be read as a database, and for a store of skein's, which belongs to no other program
// whatever is in it.
//
// Errors are those of opening and reading the file.
func Mentions(path string, names ...string) (found bool, err error) {
	store := false
	err = inFile(path, func(f *os.File) (err error) {
		found, store, err = inSchema(f, names)
		return err
	})
	if err != nil || store {
		return false, err
	}
	err = inFile(path+"-wal", func(f *os.File) error {
		b, err := io.ReadAll(io.LimitReader(f, maxMention))
		found, store = found || mentions(b, names), beginsStore(b)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found && !store, err
}

// mentions reports whether b contains one of names, or names is empty.
func mentions(b []byte, names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(b, []byte(name)) })
}

// The lengths of the headers of a -wal and of each page in it
// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
const (
	walHeader  = 32
	walPageTop = 24
)

// beginsStore reports whether a -wal has the first page of one of skein's stores: the
// first page of a new store is in no other file yet.
func beginsStore(wal []byte) bool {
	if len(wal) < walHeader {
		return false
	}
	size := int(binary.BigEndian.Uint32(wal[8:]))
	if size < 512 || size > 65536 {
		return false
	}
	for wal = wal[walHeader:]; len(wal) >= walPageTop+size; wal = wal[walPageTop+size:] {
		if binary.BigEndian.Uint32(wal) == 1 && IsStore(wal[walPageTop:walPageTop+size]) {
			return true
		}
	}
	return false
}

func inFile(path string, look func(*os.File) error) (err error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return look(f)
}

// pageInterior is the kind of page in a table's tree that points to others
// (https://www.sqlite.org/fileformat2.html#b_tree_pages).
const pageInterior = 5

// inSchema searches the tree of sqlite_schema, which begins on page 1.
func inSchema(f *os.File, names []string) (found, store bool, err error) {
	head := make([]byte, headerLen)
	if n, err := f.ReadAt(head, 0); n < len(head) || string(head[:16]) != "SQLite format 3\x00" {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return false, false, err
	}
	if IsStore(head) {
		return false, true, nil
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 65536
	}
	if size < 512 || size&(size-1) != 0 {
		return false, false, nil
	}
	page, next := make([]byte, size), []uint32{1}
	for i := 0; i < len(next) && i < maxSchema; i++ {
		if n, err := f.ReadAt(page, int64(next[i]-1)*size); n < len(page) {
			if err != nil && !errors.Is(err, io.EOF) {
				return false, false, err
			}
			continue
		}
		if mentions(page, names) {
			return true, false, nil
		}
		next = append(next, children(page, next[i])...)
	}
	return false, false, nil
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
