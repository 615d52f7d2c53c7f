package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/skein-dev/skein"
)

// Source records are stored in blocks of consecutive records, without the
// strings that are also in the texts of the batch's events: the rest of a
// transcript's lines is similar and compresses well. A block is
//
//	form     0x09, or 0x0b where what follows the IDs is zstd; 0x0d and 0x0f the
//	         same with a bit for each reference, see below
//	sum      CRC-32C of all but itself (4 bytes, little endian)
//	IDs      how many events it refers to; of each its events.id, less the one before
//	records  how many; of each:
//	  offset   less the end of the record before it in the block (signed)
//	  flags    1: copy
//	  events   how many events it made
//	  key      length, bytes
//	  damage   length, bytes
//	  length   of its bytes in the file
//	  refs     how many strings were left out of it
//	  bytes    length, bytes; then refs times: number of the event in IDs,
//	           start in its text less the end of the reference before (signed),
//	           length, then length and bytes of what follows the string
//
// Numbers are varints of encoding/binary. A string is inserted as
// [skein.AppendQuoted] writes it, including quotes. In a block of form 0x0d or
// 0x0f the number of the event is doubled, plus one if the string is inside
// another string, as are those of a line that is itself a value: it is inserted
// as AppendQuoted writes the quoted string, without the outer quotes.

// deletedText is the damage of a record whose message was deleted in the shell:
// it has empty strings where the deleted text was.
const deletedText = "its message was deleted"

// A rawRecord is a source record split into pieces.
type rawRecord struct {
	skein.Record // Raw is not used
	length       int
	pieces       []rawPiece // at least one
}

// A rawPiece is bytes of a record and, except for the last piece, the string
// after them.
type rawPiece struct {
	bytes      []byte
	event      int // number of the event whose text has the string
	start, len int
	within     bool // the string is inside another string
}

// hasWithin reports whether any string of these records is inside another.
func hasWithin(rs []rawRecord) bool {
	return slices.ContainsFunc(rs, func(r rawRecord) bool {
		return slices.ContainsFunc(r.pieces, func(p rawPiece) bool { return p.within })
	})
}

// encodeBlock appends to b the records of a block.
func encodeBlock(b []byte, rs []rawRecord) []byte {
	within := hasWithin(rs)
	size := binary.MaxVarintLen32
	for _, r := range rs {
		size += len(r.Key) + len(r.Damage) + 16
		for _, p := range r.pieces {
			size += len(p.bytes) + 8
		}
	}
	b = binary.AppendUvarint(slices.Grow(b, size), uint64(len(rs)))
	end := int64(0)
	at := 0
	for _, r := range rs {
		b = binary.AppendVarint(b, r.Offset-end)
		b = binary.AppendUvarint(b, uint64(flag(r.Copy)))
		b = binary.AppendUvarint(b, uint64(r.Events))
		b = appendString(b, string(r.Key))
		b = appendString(b, r.Damage)
		b = binary.AppendUvarint(b, uint64(r.length))
		b = binary.AppendUvarint(b, uint64(len(r.pieces)-1))
		for i, p := range r.pieces {
			b = binary.AppendUvarint(b, uint64(len(p.bytes)))
			b = append(b, p.bytes...)
			if i < len(r.pieces)-1 {
				event := uint64(p.event)
				if within {
					event = event<<1 | uint64(flag(p.within))
				}
				b = binary.AppendUvarint(b, event)
				b = binary.AppendVarint(b, int64(p.start-at))
				b = binary.AppendUvarint(b, uint64(p.len))
				at = p.start + p.len
			}
		}
		end = r.Offset + int64(r.length)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// packBlock returns the stored form of rs, without IDs.
func (p *packer) packBlock(rs []rawRecord) (form byte, body []byte) {
	scratch := p.scratch()
	defer p.free(scratch)
	b := encodeBlock(*scratch, rs)
	*scratch = b
	form = formRefs
	if hasWithin(rs) {
		form |= formWithin
	}
	if len(b) >= minZstd/2 {
		if z := p.compress(b); len(z) < len(b) {
			return form | formZstd, z
		}
	}
	if cap(b) > maxSpare { // free leaves it
		return form, b
	}
	return form, bytes.Clone(b)
}

// sealBlock joins form, checksum, IDs and body.
func sealBlock(form byte, ids []int64, body []byte) []byte {
	b := make([]byte, sumAt+sumSize, sumAt+sumSize+binary.MaxVarintLen64*(len(ids)+1)+len(body))
	b[0] = form | formSum
	b = binary.AppendUvarint(b, uint64(len(ids)))
	last := int64(0)
	for _, id := range ids {
		b = binary.AppendVarint(b, id-last)
		last = id
	}
	b = append(b, body...)
	binary.LittleEndian.PutUint32(b[sumAt:], sumOfBlock(b))
	return b
}

// Where the checksum of a sealed block is.
const (
	sumAt   = 1
	sumSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOfBlock returns the checksum that a sealed block must have.
func sumOfBlock(sealed []byte) uint32 {
	return crc32.Update(crc32.Checksum(sealed[:sumAt], castagnoli), castagnoli, sealed[sumAt+sumSize:])
}

// openBlock reverses packBlock and sealBlock. The pieces refer to ids. The
// error wraps [skein.ErrCorrupt].
func (p *packer) openBlock(stored []byte) (rs []rawRecord, ids []int64, err error) {
	if !sealed(stored) || binary.LittleEndian.Uint32(stored[sumAt:]) != sumOfBlock(stored) {
		return nil, nil, fmt.Errorf("%w: %w", skein.ErrCorrupt, skein.ErrSum)
	}
	return p.unseal(stored)
}

// sealed reports whether stored has the form of a block, and room for its checksum.
func sealed(stored []byte) bool {
	return len(stored) >= sumAt+sumSize && stored[0]&^(formZstd|formWithin) == formSum|formRefs
}

// unseal is openBlock for a block that may differ from what was stored.
func (p *packer) unseal(stored []byte) (rs []rawRecord, ids []int64, err error) {
	if !sealed(stored) {
		return nil, nil, fmt.Errorf("records of %d bytes that begin with %#x: %w", len(stored), stored[:min(len(stored), 1)], skein.ErrCorrupt)
	}
	form, d := stored[0], varintReader{b: stored[sumAt+sumSize:]}
	within := form&formWithin != 0
	last := int64(0)
	for range d.count() {
		last += d.varint()
		ids = append(ids, last)
	}
	if form&formZstd != 0 && !d.bad {
		if d.b, err = p.dec.DecodeAll(d.b, nil); err != nil {
			return nil, nil, fmt.Errorf("records: %w: %w", err, skein.ErrCorrupt)
		}
	}
	end := int64(0)
	at := 0
	for range d.count() {
		var r rawRecord
		r.Offset = end + d.varint()
		r.Copy = d.uvarint() == 1
		r.Events = int(d.uvarint())
		r.Key = skein.ClientID(d.bytes())
		r.Damage = string(d.bytes())
		r.length = int(d.uvarint())
		refs := d.count()
		for i := range refs + 1 {
			q := rawPiece{bytes: d.bytes()}
			if i < refs {
				event := d.uvarint()
				if within {
					q.within, event = event&1 != 0, event>>1
				}
				q.event, q.start, q.len = int(event), at+int(d.varint()), int(d.uvarint())
				at = q.start + q.len
				d.bad = d.bad || q.event >= len(ids) || q.start < 0 || q.len < 0
			}
			r.pieces = append(r.pieces, q)
		}
		end = r.Offset + int64(r.length)
		rs = append(rs, r)
	}
	if d.bad || len(d.b) > 0 {
		return nil, nil, fmt.Errorf("records: they do not fit into their block: %w", skein.ErrCorrupt)
	}
	return rs, ids, nil
}

// whole returns the record with its strings inserted again.
func (r *rawRecord) whole(texts []string) (skein.Record, error) {
	out := r.Record
	out.Raw = make([]byte, 0, r.length)
	for i, p := range r.pieces {
		out.Raw = append(out.Raw, p.bytes...)
		if i == len(r.pieces)-1 {
			break
		}
		switch text := texts[p.event]; {
		case text == "" && p.within:
			out.Raw, out.Damage = append(out.Raw, `\"\"`...), deletedText
		case text == "":
			out.Raw, out.Damage = append(out.Raw, `""`...), deletedText
		case p.start+p.len > len(text):
			return out, fmt.Errorf("record at %d: a reference goes beyond the text of %d bytes: %w", r.Offset, len(text), skein.ErrCorrupt)
		case p.within:
			out.Raw = appendWithin(out.Raw, string(skein.AppendQuoted(nil, text[p.start:p.start+p.len])))
		default:
			out.Raw = skein.AppendQuoted(out.Raw, text[p.start:p.start+p.len])
		}
	}
	return out, nil
}
