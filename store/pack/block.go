package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
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
//	  refs     how many strings and files were left out of it
//	  bytes    length, bytes; then refs times: number of the event in IDs,
//	           start in its text less the end of the reference before (signed),
//	           length, then length and bytes of what follows the string.
//	           Start and length are 0 for a file: length (32) and SHA-256 of a blob
//	           that the event refers to stand before what follows it
//
// Numbers are varints of encoding/binary. A string is inserted as
// [skein.AppendQuoted] writes it, including quotes. In a block of form 0x0d or
// 0x0f the number of the event is doubled, plus one if the string is inside
// another string, as are those of a line that is itself a value: it is inserted
// as AppendQuoted writes the quoted string, without the outer quotes. A blob is
// inserted in base64, with padding, without quotes.

// DeletedText is the damage of a record whose message was deleted in the shell:
// it has empty strings where the deleted text was.
const DeletedText = "its message was deleted"

// A Record is a source record split into pieces.
type Record struct {
	skein.Record // Raw is not used
	Length       int
	Pieces       []Piece // at least one
}

// A Piece is bytes of a record and, except for the last piece, the string or file
// after them.
type Piece struct {
	Bytes      []byte
	Event      int // number of the event whose text has the string, or that has the file
	start, len int
	Within     bool   // the string is inside another string
	Blob       []byte // SHA-256 of the file; nil for a string
}

// hasWithin reports whether any string of these records is inside another.
func hasWithin(rs []Record) bool {
	return slices.ContainsFunc(rs, func(r Record) bool {
		return slices.ContainsFunc(r.Pieces, func(p Piece) bool { return p.Within })
	})
}

// encodeBlock appends to b the records of a block.
func encodeBlock(b []byte, rs []Record) []byte {
	within := hasWithin(rs)
	size := binary.MaxVarintLen32
	for _, r := range rs {
		size += len(r.Key) + len(r.Damage) + 16
		for _, p := range r.Pieces {
			size += len(p.Bytes) + len(p.Blob) + 8
		}
	}
	b = binary.AppendUvarint(slices.Grow(b, size), uint64(len(rs)))
	end := int64(0)
	at := 0
	for _, r := range rs {
		b = binary.AppendVarint(b, r.Offset-end)
		b = binary.AppendUvarint(b, bit(r.Copy))
		b = binary.AppendUvarint(b, uint64(r.Events))
		b = appendString(b, string(r.Key))
		b = appendString(b, r.Damage)
		b = binary.AppendUvarint(b, uint64(r.Length))
		b = binary.AppendUvarint(b, uint64(len(r.Pieces)-1))
		for i, p := range r.Pieces {
			b = binary.AppendUvarint(b, uint64(len(p.Bytes)))
			b = append(b, p.Bytes...)
			if i < len(r.Pieces)-1 {
				event := uint64(p.Event)
				if within {
					event = event<<1 | bit(p.Within)
				}
				b = binary.AppendUvarint(b, event)
				if p.Blob != nil {
					b = appendString(append(b, 0, 0), string(p.Blob))
					continue
				}
				b = binary.AppendVarint(b, int64(p.start-at))
				b = binary.AppendUvarint(b, uint64(p.len))
				at = p.start + p.len
			}
		}
		end = r.Offset + int64(r.Length)
	}
	return b
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Encode returns the stored form of rs, without IDs.
func (p *Packer) Encode(rs []Record) (form byte, body []byte) {
	scratch := p.scratch()
	defer p.free(scratch)
	b := encodeBlock(*scratch, rs)
	*scratch = b
	form = formRefs
	if hasWithin(rs) {
		form |= formWithin
	}
	if len(b) >= minZstd/2 {
		if z := p.compress(p.enc, b); len(z) < len(b) {
			return form | formZstd, z
		}
	}
	if cap(b) > maxSpare { // free leaves it
		return form, b
	}
	return form, bytes.Clone(b)
}

// Seal joins form, checksum, IDs and body.
func Seal(form byte, ids []int64, body []byte) []byte {
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

// Reseal returns rs, sealed, with the checksum of the block stored: if that one
// is damaged, so is the result.
func (p *Packer) Reseal(stored []byte, rs []Record, ids []int64) []byte {
	form, body := p.Encode(rs)
	b := Seal(form, ids, body)
	copy(b[sumAt:][:sumSize], stored[sumAt:])
	return b
}

// sumOfBlock returns the checksum that a sealed block must have.
func sumOfBlock(sealed []byte) uint32 {
	return crc32.Update(crc32.Checksum(sealed[:sumAt], castagnoli), castagnoli, sealed[sumAt+sumSize:])
}

// Open returns the records of a stored block, whose pieces refer to the events
// ids. The error wraps [skein.ErrCorrupt] if it is not what was stored.
func (p *Packer) Open(stored []byte) (rs []Record, ids []int64, err error) {
	if !sealed(stored) || binary.LittleEndian.Uint32(stored[sumAt:]) != sumOfBlock(stored) {
		return nil, nil, fmt.Errorf("%w: %w", skein.ErrCorrupt, skein.ErrSum)
	}
	return p.Unseal(stored)
}

// sealed reports whether stored has the form of a block, and room for its checksum.
func sealed(stored []byte) bool {
	return len(stored) >= sumAt+sumSize && stored[0]&^(formZstd|formWithin) == formSum|formRefs
}

// Unseal is Open for a block that may differ from what was stored. The error wraps
// [skein.ErrCorrupt] if there are no records in it.
func (p *Packer) Unseal(stored []byte) (rs []Record, ids []int64, err error) {
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
		var r Record
		r.Offset = end + d.varint()
		r.Copy = d.uvarint() == 1
		r.Events = int(d.uvarint())
		r.Key = skein.ClientID(d.bytes())
		r.Damage = string(d.bytes())
		r.Length = int(d.uvarint())
		refs := d.count()
		for i := range refs + 1 {
			q := Piece{Bytes: d.bytes()}
			if i < refs {
				event := d.uvarint()
				if within {
					q.Within, event = event&1 != 0, event>>1
				}
				q.Event, q.start, q.len = int(event), at+int(d.varint()), int(d.uvarint())
				if q.len == 0 {
					q.Blob = d.bytes()
					d.bad = d.bad || len(q.Blob) != sha256.Size
				} else {
					at = q.start + q.len
				}
				d.bad = d.bad || q.Event >= len(ids) || q.start < 0 || q.len < 0
			}
			r.Pieces = append(r.Pieces, q)
		}
		end = r.Offset + int64(r.Length)
		rs = append(rs, r)
	}
	if d.bad || len(d.b) > 0 {
		return nil, nil, fmt.Errorf("records: they do not fit into their block: %w", skein.ErrCorrupt)
	}
	return rs, ids, nil
}

// A Files returns the content of the blob that event number n of a block refers to; nil
// if the event no longer does.
type Files func(n int, hash []byte) ([]byte, error)

// Whole returns the record with its strings and files inserted again. The error is that
// of files, or wraps [skein.ErrCorrupt] if a string goes beyond its text.
func (r *Record) Whole(texts []string, files Files) (skein.Record, error) {
	out := r.Record
	out.Raw = make([]byte, 0, r.Length)
	for i, p := range r.Pieces {
		out.Raw = append(out.Raw, p.Bytes...)
		if i == len(r.Pieces)-1 {
			break
		}
		if p.Blob != nil {
			data, err := files(p.Event, p.Blob)
			if err != nil {
				return out, err
			}
			if data == nil {
				out.Damage = DeletedText
			}
			out.Raw = base64.StdEncoding.AppendEncode(out.Raw, data)
			continue
		}
		switch text := texts[p.Event]; {
		case text == "" && p.Within:
			out.Raw, out.Damage = append(out.Raw, `\"\"`...), DeletedText
		case text == "":
			out.Raw, out.Damage = append(out.Raw, `""`...), DeletedText
		case p.start+p.len > len(text):
			return out, fmt.Errorf("record at %d: a reference goes beyond the text of %d bytes: %w", r.Offset, len(text), skein.ErrCorrupt)
		case p.Within:
			out.Raw = appendWithin(out.Raw, string(skein.AppendQuoted(nil, text[p.start:p.start+p.len])))
		default:
			out.Raw = skein.AppendQuoted(out.Raw, text[p.start:p.start+p.len])
		}
	}
	return out, nil
}

// BlockBytes is how much of a file is in one block; a longer record has its own, and a
// last block that is extended may have twice as much.
const BlockBytes = 256 << 10

const (
	tailBytes = 16 << 10 // as stored; a shorter last block is extended with what follows

	// TailRecords is the number of records from which a last block is not
	// extended: blank lines take hardly any bytes, and each extension packs the
	// stored records again.
	TailRecords = 1024
)

// A PackedBlock is a run of consecutive records of a batch. [Seal] joins form and body
// with the IDs of the events that the pieces of its records refer to.
type PackedBlock struct {
	Records []Record
	Events  []int // numbers in the batch of the events that the pieces refer to
	Form    byte
	Body    []byte // as stored, without IDs
}

// Blocks returns records in blocks, without the strings and files that are in texts.
func (p *Packer) Blocks(rs []skein.Record, texts *Texts) (blocks []PackedBlock) {
	for _, k := range chunks(rs) {
		blocks = append(blocks, p.OneBlock(k, texts))
	}
	return blocks
}

// chunks divides records into runs of one block each.
func chunks(rs []skein.Record) (all [][]skein.Record) {
	from, size := 0, 0
	for i, r := range rs {
		if size += len(r.Raw); size > BlockBytes && i > from {
			all = append(all, rs[from:i])
			from, size = i, len(r.Raw)
		}
	}
	if from < len(rs) {
		all = append(all, rs[from:])
	}
	return all
}

// OneBlock returns records in one block, without the strings and files that are in
// texts; nil has none.
func (p *Packer) OneBlock(rs []skein.Record, texts *Texts) (b PackedBlock) {
	places := map[int]int{} // number in the batch → number in the block
	for _, r := range rs {
		x := texts.split(r)
		for i := range x.Pieces[:len(x.Pieces)-1] {
			q := &x.Pieces[i]
			at, ok := places[q.Event]
			if !ok {
				at = len(places)
				places[q.Event] = at
				b.Events = append(b.Events, q.Event)
			}
			q.Event = at
		}
		b.Records = append(b.Records, x)
	}
	b.Form, b.Body = p.Encode(b.Records)
	return b
}

// Extends reports whether b is short enough to extend the block before it.
func (b *PackedBlock) Extends() bool {
	return len(b.Body) < 4*tailBytes && Short(b.Records) && len(b.Records) < TailRecords
}

// Short reports whether records have at most [BlockBytes] of their file. Files that are
// stored apart count, too: the records are read together with them.
func Short(rs []Record) bool {
	size := 0
	for _, r := range rs {
		size += r.Length
	}
	return size <= BlockBytes
}

// Extensible reports whether a last block of n records, stored as given, is
// extended with what follows.
func Extensible(stored []byte, n int) bool {
	return stored != nil && len(stored) <= tailBytes && n < TailRecords
}

// Join makes one block from two consecutive ones, and returns the IDs of the
// events that its pieces refer to.
func (p *Packer) Join(a []Record, aIDs []int64, b []Record, bIDs []int64) (PackedBlock, []int64) {
	all := PackedBlock{Records: append([]Record(nil), a...)}
	for _, r := range b {
		r.Pieces = append([]Piece(nil), r.Pieces...)
		for i := range r.Pieces {
			r.Pieces[i].Event += len(aIDs)
		}
		all.Records = append(all.Records, r)
	}
	all.Form, all.Body = p.Encode(all.Records)
	return all, append(append([]int64(nil), aIDs...), bIDs...)
}
