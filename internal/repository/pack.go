package repository

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
)

// Kinds of objects in a pack.
const (
	kindCommit   = 1
	kindOfsDelta = 6
	kindRefDelta = 7
)

// maxDeltas is how long a chain of deltas may be; Git's own limit is 4095.
const maxDeltas = 4095

// A pack is a file of objects with its index, of version 2.
type pack struct {
	idx, data *os.File
	size      int64 // bytes of a hash
	count     int64
	fanout    [256]uint32 // how many hashes begin with this byte or a smaller one
}

// The layout of an index: a magic number and a version, the fanout, then
// count hashes, count checksums, count offsets of 4 bytes, and offsets of 8
// bytes for those that do not fit.
const (
	idxHead   = 8
	idxHashes = idxHead + 256*4
)

func openPack(name string, size int) (_ *pack, err error) {
	p := &pack{size: int64(size)}
	if p.idx, err = os.Open(name + ".idx"); err != nil {
		return nil, err
	}
	if p.data, err = os.Open(name + ".pack"); err != nil {
		p.idx.Close() //nolint:errcheck // it was only read
		return nil, err
	}
	head := make([]byte, idxHashes)
	if _, err = p.idx.ReadAt(head, 0); err == nil && string(head[:idxHead]) != "\xfftOc\x00\x00\x00\x02" {
		err = errors.New("it is not an index of version 2")
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("%s.idx: %w", name, err)
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[idxHead+4*i:])
	}
	p.count = int64(p.fanout[255])
	return p, nil
}

func (p *pack) close() {
	p.idx.Close()  //nolint:errcheck // they were only read
	p.data.Close() //nolint:errcheck // they were only read
}

// find returns where an object is in the pack. The error is errNoObject if it is
// not in it.
func (p *pack) find(name []byte) (int64, error) {
	low := int64(0)
	if name[0] > 0 {
		low = int64(p.fanout[name[0]-1])
	}
	high := int64(p.fanout[name[0]])
	if low > high || high > p.count {
		return 0, fmt.Errorf("%s: its fanout goes down", p.idx.Name())
	}
	var err error
	b := make([]byte, p.size)
	compare := func(i int) int {
		if _, rerr := p.idx.ReadAt(b, idxHashes+(low+int64(i))*p.size); rerr != nil {
			err = rerr
		}
		return bytes.Compare(name, b)
	}
	i, found := sort.Find(int(high-low), compare)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", p.idx.Name(), err)
	}
	if !found {
		return 0, errNoObject
	}
	return p.offset(low + int64(i))
}

// offset returns where the object of this number is.
func (p *pack) offset(i int64) (int64, error) {
	var b [8]byte
	offsets := idxHashes + p.count*(p.size+4)
	if _, err := p.idx.ReadAt(b[:4], offsets+4*i); err != nil {
		return 0, fmt.Errorf("%s: %w", p.idx.Name(), err)
	}
	at := binary.BigEndian.Uint32(b[:4])
	if at&(1<<31) == 0 {
		return int64(at), nil
	}
	if _, err := p.idx.ReadAt(b[:], offsets+4*p.count+8*int64(at&^(1<<31))); err != nil {
		return 0, fmt.Errorf("%s: %w", p.idx.Name(), err)
	}
	return int64(binary.BigEndian.Uint64(b[:]) &^ (1 << 63)), nil
}

// read returns the object at an offset; depth is how many deltas led to it.
func (p *pack) read(o *objects, at int64, depth int) (kind int, b []byte, err error) {
	if depth > maxDeltas {
		return 0, nil, fmt.Errorf("%s: a chain of more than %d deltas", p.data.Name(), maxDeltas)
	}
	fail := func(err error) (int, []byte, error) {
		return 0, nil, fmt.Errorf("%s, at %d: %w", p.data.Name(), at, err)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p.data, at, 1<<62), 1024)
	kind, size, err := entryHead(r)
	if err == nil && size > maxObject {
		err = fmt.Errorf("an object of %d bytes, want at most %d", size, maxObject)
	}
	if err != nil {
		return fail(err)
	}
	var base func() (int, []byte, error)
	switch kind {
	case kindOfsDelta:
		back, err := ofsDistance(r)
		if err == nil && (back <= 0 || back >= at) {
			err = fmt.Errorf("its base would be %d bytes before it", back)
		}
		if err != nil {
			return fail(err)
		}
		base = func() (int, []byte, error) { return p.read(o, at-back, depth+1) }
	case kindRefDelta:
		name := make([]byte, p.size)
		if _, err := io.ReadFull(r, name); err != nil {
			return fail(err)
		}
		base = func() (int, []byte, error) {
			at, err := p.find(name)
			if err != nil {
				return 0, nil, err
			}
			return p.read(o, at, depth+1)
		}
	}
	if b, err = o.inflate(r, size); err != nil {
		return fail(err)
	}
	if base == nil {
		return kind, b, nil
	}
	kind, from, err := base()
	if err != nil {
		return 0, nil, err
	}
	if b, err = applyDelta(from, b); err != nil {
		return fail(err)
	}
	return kind, b, nil
}

// entryHead reads the kind and the size of an object in a pack.
func entryHead(r io.ByteReader) (kind int, size int64, err error) {
	c, err := r.ReadByte()
	kind, size = int(c>>4&7), int64(c&15)
	for shift := 4; err == nil && c&0x80 != 0; shift += 7 {
		if shift > 56 {
			return 0, 0, errors.New("its size has too many bytes")
		}
		c, err = r.ReadByte()
		size |= int64(c&0x7f) << shift
	}
	return kind, size, err
}

// ofsDistance reads how far before a delta its base is.
func ofsDistance(r io.ByteReader) (n int64, err error) {
	c, err := r.ReadByte()
	n = int64(c & 0x7f)
	for err == nil && c&0x80 != 0 {
		if n > 1<<54 {
			return 0, errors.New("it has too many bytes")
		}
		c, err = r.ReadByte()
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, err
}

// errDelta says that a delta does not fit its base.
var errDelta = errors.New("a delta that does not fit its base")

// applyDelta makes an object from its base and a delta: two sizes, then
// instructions to copy a part of the base or to insert bytes.
func applyDelta(base, delta []byte) ([]byte, error) {
	was, n := binary.Uvarint(delta)
	if n <= 0 || was != uint64(len(base)) {
		return nil, errDelta
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxObject {
		return nil, errDelta
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, errDelta
			}
			out, delta = append(out, delta[:op]...), delta[op:]
			continue
		}
		var args [7]int // four bytes of an offset, three of a length
		for i := range args {
			if op&(1<<i) == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errDelta
			}
			args[i], delta = int(delta[0]), delta[1:]
		}
		from := args[0] | args[1]<<8 | args[2]<<16 | args[3]<<24
		length := args[4] | args[5]<<8 | args[6]<<16
		if length == 0 {
			length = 1 << 16
		}
		if from+length > len(base) || len(out)+length > int(size) {
			return nil, errDelta
		}
		out = append(out, base[from:from+length]...)
	}
	if len(out) != int(size) {
		return nil, errDelta
	}
	return out, nil
}
