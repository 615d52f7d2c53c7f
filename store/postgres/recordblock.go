package postgres

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
)

// A block is a row of records: several consecutive source records of a file,
// compressed together with zstd. Uncompressed, it has for each record the lengths (as
// unsigned varints) of raw, key, and damage, the offset, the number of events that
// it made, a byte that is 1 if it is a copy, and then the three texts.
const (
	blockBytes   = 256 << 10 // of the records; a longer record has a block of its own
	blockRecords = 512
	tailBytes    = 8 << 10 // a last block that takes less space is filled up
)

// maxBlock is the longest block, uncompressed: one record of the greatest
// length and its frame.
const maxBlock = 1 << 30

// A recordBlock is a block to be written.
type recordBlock struct {
	first, count int
	raw          []byte
}

// blocks divides rs, whose numbers are consecutive, into blocks.
func (p *packer) blocks(rs []skein.Record) (all []recordBlock) {
	for len(rs) > 0 {
		n, size := 1, len(rs[0].Raw)
		for n < len(rs) && n < blockRecords && size+len(rs[n].Raw) <= blockBytes {
			size += len(rs[n].Raw)
			n++
		}
		all = append(all, recordBlock{rs[0].N, n, p.sealBlock(rs[:n])})
		rs = rs[n:]
	}
	return all
}

func (p *packer) sealBlock(rs []skein.Record) []byte {
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

var errBlock = errors.New("records: the block does not end where its records do")

// openBlock returns the records of a block; first is the number of the first one.
//
// The error wraps [skein.ErrCorrupt].
func (p *packer) openBlock(first, count int, raw []byte) ([]skein.Record, error) {
	b, err := p.dec.DecodeAll(raw, nil)
	if err != nil {
		return nil, fmt.Errorf("record %d: %w: %w", first, skein.ErrCorrupt, err)
	}
	rs := make([]skein.Record, 0, count)
	for i := range count {
		r, rest, err := cutRecord(b)
		if err != nil {
			return nil, fmt.Errorf("record %d: %w: %w", first+i, skein.ErrCorrupt, err)
		}
		r.N = first + i
		rs, b = append(rs, r), rest
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("record %d: %w: %w", first, skein.ErrCorrupt, errBlock)
	}
	return rs, nil
}

// cutRecord reads the record that b begins with.
func cutRecord(b []byte) (r skein.Record, rest []byte, err error) {
	var lengths [3]uint64
	for i := range lengths {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > maxBlock {
			return r, nil, errBlock
		}
		lengths[i], b = n, b[w:]
	}
	var numbers [2]int64
	for i := range numbers {
		n, w := binary.Varint(b)
		if w <= 0 {
			return r, nil, errBlock
		}
		numbers[i], b = n, b[w:]
	}
	if uint64(len(b)) < 1+lengths[0]+lengths[1]+lengths[2] {
		return r, nil, errBlock
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
