package pack

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
)

// A whole block is several consecutive source records of a file, compressed together
// with zstd and without references to texts. Uncompressed, it has for each record the
// lengths (as unsigned varints) of raw, key, and damage, the offset, the number of
// events that it made, a byte that is 1 if it is a copy, and then the three texts.
const (
	wholeBytes   = 256 << 10 // of the records; a longer record has a block of its own
	wholeRecords = 512

	// ShortBlock is the space, in bytes, below which a file's last block is filled up.
	ShortBlock = 8 << 10
)

// maxWhole is the longest block, uncompressed: one record of the greatest
// length and its frame.
const maxWhole = 1 << 30

// A WholeBlock is a block to be written.
type WholeBlock struct {
	First, Count int // number of the first record, and how many there are
	Raw          []byte
}

// WholeBlocks divides rs, whose numbers are consecutive, into blocks.
func (p *Compressor) WholeBlocks(rs []skein.Record) (all []WholeBlock) {
	for len(rs) > 0 {
		n, size := 1, len(rs[0].Raw)
		for n < len(rs) && n < wholeRecords && size+len(rs[n].Raw) <= wholeBytes {
			size += len(rs[n].Raw)
			n++
		}
		all = append(all, WholeBlock{rs[0].N, n, p.SealWhole(rs[:n])})
		rs = rs[n:]
	}
	return all
}

// SealWhole returns the block of rs, whose numbers are consecutive.
func (p *Compressor) SealWhole(rs []skein.Record) []byte {
	var b []byte
	for _, r := range rs {
		for _, n := range []int{len(r.Raw), len(r.Key), len(r.Damage)} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = binary.AppendVarint(b, r.Offset)
		b = binary.AppendVarint(b, int64(r.Events))
		is := byte(0)
		if r.Copy {
			is = 1
		}
		b = append(append(append(append(b, is), r.Raw...), r.Key...), r.Damage...)
	}
	return p.enc.EncodeAll(b, nil)
}

var errWhole = errors.New("records: the block does not end where its records do")

// OpenWhole returns the records of a block; first is the number of the first one.
//
// The error wraps [skein.ErrCorrupt].
func (p *Compressor) OpenWhole(first, count int, raw []byte) ([]skein.Record, error) {
	b, err := p.dec.DecodeAll(raw, nil)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w: %w", first, skein.ErrCorrupt, err)
	}
	rs := make([]skein.Record, 0, count)
	for i := range count {
		r, rest, err := cutWhole(b)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w: %w", first+i, skein.ErrCorrupt, err)
		}
		r.N = first + i
		rs, b = append(rs, r), rest
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("record %d: %w: %w", first, skein.ErrCorrupt, errWhole)
	}
	return rs, nil
}

// cutWhole reads the record that b begins with.
func cutWhole(b []byte) (r skein.Record, rest []byte, err error) {
	var lengths [3]uint64
	for i := range lengths {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > maxWhole {
			return r, nil, errWhole
		}
		lengths[i], b = n, b[w:]
	}
	var numbers [2]int64
	for i := range numbers {
		n, w := binary.Varint(b)
		if w <= 0 {
			return r, nil, errWhole
		}
		numbers[i], b = n, b[w:]
	}
	if uint64(len(b)) < 1+lengths[0]+lengths[1]+lengths[2] {
		return r, nil, errWhole
	}
	r.Offset, r.Events, r.Copy = numbers[0], int(numbers[1]), b[0] == 1
	b = b[1:]
	cut := func(n uint64) (piece []byte) {
		piece, b = b[:n:n], b[n:]
		return piece
	}
	r.Raw, r.Key, r.Damage = cut(lengths[0]), skein.ClientID(cut(lengths[1])), string(cut(lengths[2]))
	return r, b, nil
}
