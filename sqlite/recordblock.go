package sqlite

import (
	"encoding/binary"
	"fmt"

	"github.com/skein-dev/skein"
)

// Source records are stored in blocks of some that follow each other, without
// the strings that stand in the texts of the batch's events: what remains of a
// transcript's lines is alike and compresses well. A block is
//
//	form     0x01, or 0x03 where what follows the IDs is zstd
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
// Numbers are varints of encoding/binary. A string is put in as
// [skein.AppendQuoted] writes it, quotes included.

// deletedText is the damage of a record whose message was deleted in the shell:
// it has empty strings where that text was.
const deletedText = "its message was deleted"

// A rawRecord is a source record in pieces.
type rawRecord struct {
	skein.Record // Raw is not used
	length       int
	pieces       []rawPiece // at least one
}

// A rawPiece is bytes of a record and, but for the last one, the string after
// them.
type rawPiece struct {
	bytes      []byte
	event      int // number of the event whose text has the string
	start, len int
}

// A refTable finds strings in the texts of events.
type refTable map[string]textRef

type textRef struct {
	event      int
	start, end int
}

// add makes the spans of an event's text findable.
func (t refTable) add(event int, f *skein.Facts) {
	for _, s := range f.Spans {
		if s.End-s.Start < minRef {
			continue
		}
		q := string(skein.AppendQuoted(nil, f.Text[s.Start:s.End]))
		if _, ok := t[q]; !ok {
			t[q] = textRef{event, s.Start, s.End}
		}
	}
}

// split cuts a record at the strings that t has.
func (t refTable) split(r skein.Record) rawRecord {
	raw := r.Raw
	out := rawRecord{Record: r, length: len(raw)}
	out.Raw = nil
	done := 0
	for i := 0; i < len(raw) && len(t) > 0; {
		if raw[i] != '"' {
			i++
			continue
		}
		end := literalEnd(raw, i)
		if end-i > minRef {
			if ref, ok := t[string(raw[i:end])]; ok {
				out.pieces = append(out.pieces, rawPiece{raw[done:i], ref.event, ref.start, ref.end - ref.start})
				done = end
			}
		}
		i = end
	}
	out.pieces = append(out.pieces, rawPiece{bytes: raw[done:]})
	return out
}

// encodeBlock returns the records of a block.
func encodeBlock(rs []rawRecord) []byte {
	b := binary.AppendUvarint(nil, uint64(len(rs)))
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
				b = binary.AppendUvarint(b, uint64(p.event))
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

// packBlock returns the stored block of rs, without its IDs.
func (p *packer) packBlock(rs []rawRecord) (form byte, body []byte) {
	b := encodeBlock(rs)
	if len(b) >= minZstd/2 {
		if z := p.enc.EncodeAll(b, nil); len(z) < len(b) {
			return formRefZstd, z
		}
	}
	return formRefs, b
}

// sealBlock puts form, IDs and body together.
func sealBlock(form byte, ids []int64, body []byte) []byte {
	b := binary.AppendUvarint([]byte{form}, uint64(len(ids)))
	last := int64(0)
	for _, id := range ids {
		b = binary.AppendVarint(b, id-last)
		last = id
	}
	return append(b, body...)
}

// openBlock undoes packBlock and sealBlock. The pieces refer to ids.
func (p *packer) openBlock(stored []byte) (rs []rawRecord, ids []int64, err error) {
	d := decoder{b: stored}
	form := d.byte()
	if form != formRefs && form != formRefZstd {
		return nil, nil, fmt.Errorf("records of form %#x: %w", form, skein.ErrCorrupt)
	}
	last := int64(0)
	for range d.count() {
		last += d.varint()
		ids = append(ids, last)
	}
	if form == formRefZstd && !d.bad {
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
				q.event, q.start, q.len = int(d.uvarint()), at+int(d.varint()), int(d.uvarint())
				at = q.start + q.len
				d.bad = d.bad || q.event >= len(ids) || q.start < 0 || q.len < 0
			}
			r.pieces = append(r.pieces, q)
		}
		end = r.Offset + int64(r.length)
		rs = append(rs, r)
	}
	if d.bad || len(d.b) > 0 {
		return nil, nil, fmt.Errorf("records: they do not fit their block: %w", skein.ErrCorrupt)
	}
	return rs, ids, nil
}

// whole puts a record's strings in again.
func (r *rawRecord) whole(texts []string) (skein.Record, error) {
	out := r.Record
	out.Raw = make([]byte, 0, r.length)
	for i, p := range r.pieces {
		out.Raw = append(out.Raw, p.bytes...)
		if i == len(r.pieces)-1 {
			break
		}
		switch text := texts[p.event]; {
		case text == "":
			out.Raw, out.Damage = append(out.Raw, `""`...), deletedText
		case p.start+p.len > len(text):
			return out, fmt.Errorf("record at %d: a reference goes beyond the text of %d bytes: %w", r.Offset, len(text), skein.ErrCorrupt)
		default:
			out.Raw = skein.AppendQuoted(out.Raw, text[p.start:p.start+p.len])
		}
	}
	return out, nil
}
