package lines

import (
	"iter"
	"slices"
	"unicode/utf8"
	"unsafe"
)

// A Rope is bytes in pieces. A long text that stands in it as a JSON string is held as it
// is, and is quoted when the rope is read: quoted it may be six times as long, and longer
// if the JSON is itself a string in other JSON. The zero Rope is empty.
type Rope struct{ pieces []ropePiece }

// A ropePiece is bytes, and how they are quoted, from the inside to the outside.
type ropePiece struct {
	raw    []byte
	quotes []Quote
}

// A Quote appends text as it stands between the quotation marks of a JSON string. What it
// appends for a rune depends only on that rune.
type Quote func(b, text []byte) []byte

// longText is the length in bytes from which a text is held as it is.
const longText = 64 << 10

// portion is how much of a long text is quoted at a time, in bytes.
const portion = 32 << 10

// RopeOf returns a rope of b, which it does not copy, and which belongs to it.
func RopeOf(b []byte) Rope { return Rope{pieces: []ropePiece{{raw: b}}} }

// RopeOfText returns a rope of text, which it does not copy.
func RopeOfText(text string) Rope {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) //nolint:gosec // it is only read
	return RopeOf(slices.Clip(b))
}

// Append appends bytes. It copies them.
func (r *Rope) Append(b []byte) {
	if n := len(r.pieces); n > 0 && r.pieces[n-1].quotes == nil {
		r.pieces[n-1].raw = append(r.pieces[n-1].raw, b...)
	} else if len(b) > 0 {
		r.pieces = append(r.pieces, ropePiece{raw: slices.Clone(b)})
	}
}

// AppendQuoted appends what another rope holds as a JSON string.
func (r *Rope) AppendQuoted(text Rope, quote Quote) {
	r.Append([]byte{'"'})
	for _, p := range text.pieces {
		if p.quotes == nil && len(p.raw) < longText {
			r.Append(quote(nil, p.raw))
		} else {
			r.pieces = append(r.pieces, ropePiece{p.raw, append(slices.Clip(p.quotes), quote)})
		}
	}
	r.Append([]byte{'"'})
}

// Join appends another rope.
func (r *Rope) Join(other Rope) {
	for _, p := range other.pieces {
		if p.quotes == nil && len(p.raw) < longText {
			r.Append(p.raw)
		} else {
			r.pieces = append(r.pieces, ropePiece{slices.Clip(p.raw), p.quotes})
		}
	}
}

// From returns the rope without its first n bytes, which are not of a long text.
func (r Rope) From(n int) Rope {
	r.pieces = slices.Clone(r.pieces)
	r.pieces[0].raw = r.pieces[0].raw[n:]
	return r
}

// Len returns how many bytes the rope holds.
func (r Rope) Len() (n int) {
	for b := range r.All() {
		n += len(b)
	}
	return n
}

// IsPlain reports whether the rope is bytes without a long text.
func (r Rope) IsPlain() bool { return len(r.pieces) == 1 && r.pieces[0].quotes == nil }

// Gist returns the rope with nothing in place of its long texts: JSON with the same
// members, which are empty if they are long.
func (r Rope) Gist() []byte {
	if r.IsPlain() {
		return r.pieces[0].raw
	}
	var b []byte
	for _, p := range r.pieces {
		if p.quotes == nil {
			b = append(b, p.raw...)
		}
	}
	return b
}

// Bytes returns all bytes. They are a copy only if a long text must be quoted.
func (r Rope) Bytes() []byte {
	if r.IsPlain() {
		return r.pieces[0].raw
	}
	return r.AppendTo(make([]byte, 0, r.Len()))
}

// AppendTo appends all bytes to b.
func (r Rope) AppendTo(b []byte) []byte {
	for piece := range r.All() {
		b = append(b, piece...)
	}
	return b
}

// IsValid reports whether the rope is UTF-8.
func (r Rope) IsValid() bool {
	for _, p := range r.pieces {
		if !utf8.Valid(p.raw) && p.quotes == nil {
			return false
		}
	}
	return true
}

// All yields the bytes, some at a time, each valid until the next.
func (r Rope) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		in := ropeReader{rope: r}
		for b := in.next(); b != nil; b = in.next() {
			if !yield(b) {
				return
			}
		}
	}
}

// A ropeReader reads a rope, some bytes at a time.
type ropeReader struct {
	rope Rope
	rest []byte // of the first piece, if it was begun
	bufs [2][]byte
}

// next returns the next bytes, which are valid until the next call; nil at the end.
func (in *ropeReader) next() []byte {
	for len(in.rope.pieces) > 0 {
		p := in.rope.pieces[0]
		if in.rest == nil {
			in.rest = p.raw
		}
		if len(in.rest) == 0 || p.quotes == nil {
			b := in.rest
			in.rope.pieces, in.rest = in.rope.pieces[1:], nil
			if len(b) > 0 {
				return b
			}
			continue
		}
		b := in.rest[:runes(in.rest)]
		in.rest = in.rest[len(b):]
		for i, quote := range p.quotes {
			buf := &in.bufs[i%2]
			*buf = quote((*buf)[:0], b)
			b = *buf
		}
		return b
	}
	return nil
}

// all returns the bytes that are left.
func (in *ropeReader) all() []byte {
	rest := in.rope
	if in.rest != nil {
		rest = rest.From(len(rest.pieces[0].raw) - len(in.rest))
	}
	*in = ropeReader{}
	return rest.Bytes()
}

// runes returns how many bytes of text to quote next: a portion, which ends where a rune
// does.
func runes(text []byte) int {
	n := min(portion, len(text))
	for back := 0; back < utf8.UTFMax && n < len(text) && !utf8.RuneStart(text[n]); back++ {
		n--
	}
	return n
}
