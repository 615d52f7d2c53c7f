package pagefile

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"slices"
)

// A File is the pages of a database file, read without SQLite, which rejects a
// whole file or tree if one page of it is damaged. The format is described in
// https://sqlite.org/fileformat.html (checked 2026-11-22).
//
// It relies on as little as possible: the page size is [PageSize] whatever the header
// says, no tree is followed down from its root, and the pointer map says which pages
// are free. Every skein file has one, because it is created with auto_vacuum.
type File struct {
	file  *os.File
	log   map[uint32][]byte // pages in the -wal file
	Count uint32            // how many pages the file has
	maps  map[uint32][]byte // pages of the pointer map
}

// PageSize is the size of the pages of every skein file, in bytes.
const PageSize = 4096

// Kinds of pages, by their first byte: TableLeaf has rows of a table.
const (
	indexInterior = 0x02
	indexLeaf     = 0x0a
	TableLeaf     = 0x0d
)

// Entries of the pointer map: a page with MapFree has nothing that counts.
const (
	mapRoot = 1
	MapFree = 2
	mapTree = 5
)

// Open opens a file that no connection of this process has open: closing
// it would drop their locks. The error is that of the system.
func Open(name string) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &File{file: f, Count: uint32(min((st.Size()+PageSize-1)/PageSize, math.MaxUint32)), maps: map[uint32][]byte{}}
	wal, err := os.ReadFile(name + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, f.Close())
	}
	if err == nil {
		p.readLog(wal)
	}
	return p, nil
}

// OfLog returns the pages that the bytes of a -wal file have by themselves. It has
// nothing to close.
func OfLog(b []byte) *File {
	p := &File{maps: map[uint32][]byte{}}
	p.readLog(b)
	return p
}

// Logged returns the numbers of the pages in the log, in order.
func (p *File) Logged() []uint32 { return slices.Sorted(maps.Keys(p.log)) }

// Close closes the file. The error is that of the system.
func (p *File) Close() error { return p.file.Close() }

// readLog reads the pages of all complete transactions in a log.
func (p *File) readLog(b []byte) {
	p.log = map[uint32][]byte{}
	for f := range committed(b) {
		p.log[f.number], p.Count = f.page, f.size
	}
}

// AllLogged returns the pages that the bytes of a -wal file have, in the order in which
// they were written: a page as often as a transaction wrote it.
func AllLogged(b []byte) iter.Seq2[uint32, []byte] {
	return func(yield func(uint32, []byte) bool) {
		for f := range committed(b) {
			if !yield(f.number, f.page) {
				return
			}
		}
	}
}

// A loggedPage is one frame of a log.
type loggedPage struct {
	number uint32
	page   []byte
	size   uint32 // how many pages the file has once its transaction is committed
}

// committed returns the frames of all complete transactions in a log.
func committed(b []byte) iter.Seq[loggedPage] {
	const head, frameHead = 32, 24
	return func(yield func(loggedPage) bool) {
		if len(b) < head || binary.BigEndian.Uint32(b)&^1 != 0x377f0682 || binary.BigEndian.Uint32(b[8:]) != PageSize {
			return
		}
		var order binary.ByteOrder = binary.LittleEndian
		if b[3]&1 != 0 {
			order = binary.BigEndian
		}
		salts := string(b[16:24])
		s0, s1 := logSum(order, 0, 0, b[:24])
		var begun []loggedPage
		for b := b[head:]; len(b) >= frameHead+PageSize; b = b[frameHead+PageSize:] {
			f := b[:frameHead+PageSize]
			s0, s1 = logSum(order, s0, s1, f[:8])
			s0, s1 = logSum(order, s0, s1, f[frameHead:])
			if string(f[8:16]) != salts || binary.BigEndian.Uint32(f[16:]) != s0 || binary.BigEndian.Uint32(f[20:]) != s1 {
				return
			}
			begun = append(begun, loggedPage{number: binary.BigEndian.Uint32(f), page: f[frameHead:]})
			size := binary.BigEndian.Uint32(f[4:])
			if size == 0 { // the frame does not commit the transaction
				continue
			}
			for _, f := range begun {
				f.size = size
				if !yield(f) {
					return
				}
			}
			begun = begun[:0]
		}
	}
}

func logSum(order binary.ByteOrder, s0, s1 uint32, b []byte) (uint32, uint32) {
	for ; len(b) >= 8; b = b[8:] {
		s0 += order.Uint32(b) + s1
		s1 += order.Uint32(b[4:]) + s0
	}
	return s0, s1
}

// Page returns a page, or nil if it cannot be read.
func (p *File) Page(n uint32) []byte {
	if n == 0 || n > p.Count {
		return nil
	}
	if b := p.log[n]; b != nil {
		return b
	}
	b := make([]byte, PageSize)
	if got, _ := p.file.ReadAt(b, int64(n-1)*PageSize); got == 0 { //nolint:errcheck // what was read counts, also of a disk that fails
		return nil
	}
	return b
}

// Mapped returns the pointer map's entry for a page; kind is 0 if there is no
// valid entry.
func (p *File) Mapped(n uint32) (kind byte, parent uint32) {
	const most = PageSize/5 + 1
	if n < 3 {
		return 0, 0
	}
	at := (n-2)/most*most + 2
	if at == n {
		return 0, 0
	}
	b, ok := p.maps[at]
	if !ok {
		if b = p.Page(at); !saneMap(b) {
			b = nil
		}
		p.maps[at] = b
	}
	if b == nil {
		return 0, 0
	}
	e := b[5*(n-at-1):]
	return e[0], binary.BigEndian.Uint32(e[1:])
}

// IsMap reports whether a page is part of the pointer map.
func IsMap(n uint32) bool { return n >= 2 && (n-2)%(PageSize/5+1) == 0 }

// saneMap reports whether nearly all of a page consists of valid pointer map
// entries: a page that was overwritten does not mark any page as free.
func saneMap(b []byte) bool {
	bad := 0
	for i := 0; i+5 <= len(b); i += 5 {
		if b[i] > mapTree {
			bad++
		}
	}
	return b != nil && bad <= 8
}

// Root returns the root of the tree that a page is in; 0 if that is unknown.
func (p *File) Root(n uint32) uint32 {
	for range 40 {
		kind, parent := p.Mapped(n)
		switch {
		case kind == mapRoot:
			return n
		case kind != mapTree || parent == 0:
			return 0
		}
		n = parent
	}
	return 0
}

// Roots returns the name of each tree by its root, from the file's own list of tables
// and indexes, as far as that can be read: page 1 and the pages below it.
func (p *File) Roots() map[uint32]string {
	all := map[uint32]string{}
	for n := uint32(1); n <= p.Count; n++ {
		if kind, parent := p.Mapped(n); n > 1 && (kind != mapTree || parent != 1) {
			continue
		}
		b := p.Page(n)
		if b == nil {
			continue
		}
		cells, _ := p.Cells(n, b)
		for _, c := range cells {
			if len(c.Values) != 5 {
				continue
			}
			name, named := c.Values[1].(string)
			if root, ok := c.Values[3].(int64); ok && named && root > 1 && root <= int64(p.Count) {
				all[uint32(root)] = name
			}
		}
	}
	return all
}

// A Cell is a row; for a table, with its rowid.
type Cell struct {
	Rowid  int64
	Values []any // int64, float64, string, []byte or nil
	Spans  []ByteSpan
}

// A ByteSpan is a range of bytes of a cell in the file.
type ByteSpan struct{ From, To int64 }

// Cells returns the rows of a page of a tree, and whether anything on the page
// cannot be read.
func (p *File) Cells(n uint32, b []byte) (all []Cell, bad bool) {
	base := 0
	if n == 1 {
		base = 100
	}
	head := 8
	switch b[base] {
	case indexInterior:
		head = 12
	case indexLeaf, TableLeaf:
	default:
		return nil, true
	}
	count := int(binary.BigEndian.Uint16(b[base+3:]))
	for i := range count {
		at := base + head + 2*i
		if at+2 > PageSize {
			return all, true
		}
		c, ok := p.Cell(n, b, int(binary.BigEndian.Uint16(b[at:])), b[base])
		if !ok {
			bad = true
			continue
		}
		all = append(all, c)
	}
	return all, bad
}

// Cell reads the cell at an offset of a page of the given kind.
func (p *File) Cell(n uint32, b []byte, at int, kind byte) (c Cell, ok bool) {
	const fewest = (PageSize-12)*32/255 - 23
	from := at
	most := PageSize - 35
	if kind != TableLeaf {
		most = (PageSize-12)*64/255 - 23
	}
	if kind == indexInterior {
		at += 4
	}
	if at < 8 || at >= PageSize {
		return c, false
	}
	d := Varints{B: b[at:]}
	size := d.Next()
	if kind == TableLeaf {
		c.Rowid = int64(d.Next())
	}
	if d.Bad || size < 2 || size > uint64(p.Count)*PageSize {
		return c, false
	}
	local := int(size)
	if local > most {
		if local = fewest + (int(size)-fewest)%(PageSize-4); local > most {
			local = fewest
		}
	}
	if local > len(d.B) {
		return c, false
	}
	body := d.B[:local]
	end := PageSize - len(d.B) + local
	if local < int(size) {
		if len(d.B) < local+4 {
			return c, false
		}
		end += 4
		if body, ok = p.overflow(body, binary.BigEndian.Uint32(d.B[local:]), int(size), &c); !ok {
			return c, false
		}
	}
	c.Spans = append(c.Spans, ByteSpan{int64(n-1)*PageSize + int64(from), int64(n-1)*PageSize + int64(end)})
	c.Values, ok = recordValues(body)
	return c, ok
}

// overflow returns content that begins with body and continues in a chain of pages.
func (p *File) overflow(body []byte, next uint32, size int, c *Cell) ([]byte, bool) {
	if recordTooWide(body) {
		return nil, false // do not read many pages for something that is not a row
	}
	out := append(make([]byte, 0, size), body...)
	for len(out) < size {
		b := p.Page(next)
		if b == nil {
			return nil, false
		}
		n := min(size-len(out), PageSize-4)
		out = append(out, b[4:4+n]...)
		c.Spans = append(c.Spans, ByteSpan{int64(next-1) * PageSize, int64(next-1)*PageSize + 4 + int64(n)})
		next = binary.BigEndian.Uint32(b)
	}
	return out, true
}

// recordTooWide reports whether b cannot begin a record of any row of skein's.
func recordTooWide(b []byte) bool {
	d := Varints{B: b}
	n := d.Next()
	return d.Bad || n < 2 || n > 400
}

// recordValues reads a record: the length of its header, the types of its
// values, the values.
func recordValues(b []byte) (all []any, ok bool) {
	d := Varints{B: b}
	n := int(d.Next())
	if d.Bad || n < 2 || n > len(b) || n > 400 {
		return nil, false
	}
	d.B = b[len(b)-len(d.B) : n]
	body := b[n:]
	for len(d.B) > 0 {
		kind := d.Next()
		if d.Bad {
			return nil, false
		}
		size := recordSize(kind)
		if size < 0 || size > len(body) {
			return nil, false
		}
		all = append(all, recordValue(kind, body[:size]))
		body = body[size:]
	}
	return all, len(body) == 0
}

func recordSize(kind uint64) int {
	switch {
	case kind <= 4:
		return int(kind)
	case kind == 5:
		return 6
	case kind <= 7:
		return 8
	case kind <= 9:
		return 0
	case kind < 12 || kind > 2<<31:
		return -1
	}
	return int(kind-12) / 2
}

func recordValue(kind uint64, b []byte) any {
	switch {
	case kind == 0:
		return nil
	case kind == 7:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	case kind < 7:
		v := int64(int8(b[0]))
		for _, x := range b[1:] {
			v = v<<8 | int64(x)
		}
		return v
	case kind <= 9:
		return int64(kind - 8)
	case kind%2 == 0:
		return append([]byte{}, b...)
	}
	return string(b)
}
