package pack

import (
	"bytes"
	_ "embed" // for payload.dict
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/skein-dev/skein"
)

// A payload is stored unchanged, or packed, with a first byte that no JSON
// begins with: its long strings that are also in the event's text are left out,
// and the rest is compressed if that saves much.
//
//	'{' …    the payload itself
//	0x01 B   B is the packed payload
//	0x02 Z   Z is the payload, zstd
//	0x03 Z   Z is B, zstd
//
// Z may be compressed with the dictionary in payload.dict, whose ID its frame names then.
//
// B is a sequence of: length of a literal, its bytes, then, unless B ends
// there, where the next string begins in the text, counted from the end of the
// one before (signed), and its length. Numbers are varints of encoding/binary.
// A string is inserted as [skein.AppendQuoted] writes it, including quotes.
const (
	formRefs    = 0x01
	formZstd    = 0x02
	formRefZstd = formRefs | formZstd
	formWithin  = 0x04 // only in records
	formSum     = 0x08 // only in records
)

const (
	minRef  = 32        // bytes of text below which a reference saves nothing
	minZstd = 512       // bytes below which records are not compressed
	minDict = 128       // the same of payloads; the shell must read the payload of a withdrawal, which is shorter
	maxDict = 128 << 10 // bytes above which the dictionary saves nothing
)

// dictionary is a dictionary of zstd: what is frequent in payloads, with ID 1. It is part
// of the format and never changes; a better one has another ID. Its 9.6 KiB of content are
// one payload of each frequent shape, as skein writes them for the agents it knows,
// without their values, the most frequent last; its tables of frequencies were
// made by zstd.BuildDict of github.com/klauspost/compress from these shapes with random
// values and from the payloads of the files in interop/formats/*/testdata.
//
//go:embed payload.dict
var dictionary []byte

// A Packer packs and unpacks payloads, records and blobs. It is safe for concurrent use.
type Packer struct {
	Compressor
	payloads *zstd.Encoder // with the dictionary
	spare    sync.Pool     // of *[]byte: what is packed has a buffer until its length is known
}

// maxSpare is the largest buffer, in bytes, that is kept for the next use.
const maxSpare = 1 << 20

// compress returns head and b, as enc compresses it, in memory of its own.
func (p *Packer) compress(enc *zstd.Encoder, b []byte, head ...byte) []byte {
	if len(b) > maxSpare {
		return enc.EncodeAll(b, head)
	}
	scratch := p.scratch()
	defer p.free(scratch)
	*scratch = enc.EncodeAll(b, append(*scratch, head...))
	return bytes.Clone(*scratch)
}

// scratch returns an empty buffer, for free to take back.
func (p *Packer) scratch() *[]byte {
	if b, ok := p.spare.Get().(*[]byte); ok {
		return b
	}
	return new([]byte)
}

func (p *Packer) free(b *[]byte) {
	if cap(*b) > maxSpare {
		return
	}
	*b = (*b)[:0]
	p.spare.Put(b)
}

// New returns a packer, which must be closed. The error is that of the
// compression library.
func New() (*Packer, error) {
	fast := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithEncoderConcurrency(2), zstd.WithLowerEncoderMem(true)}
	enc, err := zstd.NewWriter(nil, fast...)
	if err != nil {
		return nil, err
	}
	payloads, err := zstd.NewWriter(nil, append(fast, zstd.WithEncoderDict(dictionary), zstd.WithWindowSize(maxDict))...)
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(2*skein.MaxPayload), zstd.WithDecoderDicts(dictionary))
	if err != nil {
		return nil, err
	}
	return &Packer{Compressor: Compressor{enc, dec}, payloads: payloads}, nil
}

// Close releases the memory of p.
func (p *Packer) Close() {
	p.Compressor.Close()
	_ = p.payloads.Close() //nolint:errcheck // it writes nowhere
}

// Pack returns the form of payload to store beside the text that has the spans.
func (p *Packer) Pack(payload []byte, spans *Quotes) []byte {
	body, form := payload, byte(0)
	if refs := putRefs(payload, spans); refs != nil {
		body, form = refs, formRefs
	}
	if len(body) >= minDict {
		enc := p.payloads
		if len(body) > maxDict {
			enc = p.enc
		}
		if z := p.compress(enc, body, form|formZstd); len(z) < len(body)*7/8 {
			return z
		}
	}
	if form == 0 {
		return payload
	}
	return append([]byte{form}, body...)
}

// Unpack returns the payload from its stored form. The error wraps
// [skein.ErrCorrupt] if it has none.
func (p *Packer) Unpack(stored []byte, text string) ([]byte, error) {
	if len(stored) == 0 {
		return nil, fmt.Errorf("payload: empty: %w", skein.ErrCorrupt)
	}
	form, body := stored[0], stored[1:]
	if form >= ' ' {
		return stored, nil
	}
	if form&^formRefZstd != 0 || form == 0 {
		return nil, fmt.Errorf("payload: form %#x: %w", form, skein.ErrCorrupt)
	}
	if form&formZstd != 0 {
		var err error
		if body, err = p.dec.DecodeAll(body, nil); err != nil {
			return nil, fmt.Errorf("payload: %w: %w", err, skein.ErrCorrupt)
		}
	}
	if form&formRefs == 0 {
		return body, nil
	}
	return takeRefs(body, text)
}

// putRefs returns payload with references in place of the strings that are
// quoted; nil if there are none.
func putRefs(payload []byte, quoted *Quotes) []byte {
	if quoted.none() {
		return nil
	}
	var out []byte
	done, at := 0, 0 // positions in payload and in text
	for i := 0; i < len(payload); {
		if payload[i] != '"' {
			i++
			continue
		}
		end := LiteralEnd(payload, i)
		if s, ok := quoted.find(payload[i:end]); ok && end-i > minRef {
			out = binary.AppendUvarint(out, uint64(i-done))
			out = append(out, payload[done:i]...)
			out = binary.AppendVarint(out, int64(s.Start-at))
			out = binary.AppendUvarint(out, uint64(s.End-s.Start))
			done, at = end, s.End
		}
		i = end
	}
	if out == nil {
		return nil
	}
	out = binary.AppendUvarint(out, uint64(len(payload)-done))
	return append(out, payload[done:]...)
}

// Quotes are spans of a text that are worth a reference: by their form as JSON
// strings, and those that are too long to be copied for that.
type Quotes struct {
	text  string
	short map[string]skein.Span
	long  []skein.Span
}

// longSpan is the length of the shortest of quotes.long, in bytes.
const longSpan = 1 << 20

// Quote returns the spans of text that are worth a reference.
func Quote(text string, spans []skein.Span) *Quotes {
	q := Quotes{text: text}
	for _, s := range spans {
		switch n := s.End - s.Start; {
		case n < minRef:
			continue
		case n >= longSpan:
			q.long = append(q.long, s)
			continue
		case q.short == nil:
			q.short = map[string]skein.Span{}
		}
		quoted := q.quote(s)
		if _, ok := q.short[quoted]; !ok {
			q.short[quoted] = s
		}
	}
	return &q
}

// quote returns a span as a JSON string.
func (q *Quotes) quote(s skein.Span) string {
	return string(skein.AppendQuoted(nil, q.text[s.Start:s.End]))
}

func (q *Quotes) none() bool { return len(q.short)+len(q.long) == 0 }

// find returns the first span that is literal as a JSON string.
func (q *Quotes) find(literal []byte) (skein.Span, bool) {
	s, ok := q.short[string(literal)]
	if ok || len(literal) < longSpan {
		return s, ok
	}
	i := slices.IndexFunc(q.long, func(s skein.Span) bool { return isQuoted(literal, q.text[s.Start:s.End]) })
	if i < 0 {
		return s, false
	}
	return q.long[i], true
}

// isQuoted reports whether literal is text, which is UTF-8, as a JSON string.
func isQuoted(literal []byte, text string) bool {
	if len(literal) < len(text)+2 {
		return false
	}
	literal = literal[1:]
	for piece := make([]byte, 0, 32<<10); text != ""; {
		n := min(len(text), cap(piece)/8) // an escape is 6 times as long as its character
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		piece = skein.AppendQuoted(piece[:0], text[:n])
		rest, ok := bytes.CutPrefix(literal, piece[1:len(piece)-1])
		if !ok {
			return false
		}
		literal, text = rest, text[n:]
	}
	return string(literal) == `"`
}

// LiteralEnd returns the end of the JSON string that begins at i.
func LiteralEnd(b []byte, i int) int {
	for j := i + 1; ; {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return len(b)
		}
		j += n
		back := j
		for b[back-1] == '\\' {
			back--
		}
		j++
		if (j-1-back)%2 == 0 {
			return j
		}
	}
}

func takeRefs(body []byte, text string) ([]byte, error) {
	size := len(body) + len(text) + len(text)/8 + 64
	if len(text) >= longSpan { // its JSON may be six times as long, or it may be referred to in part
		size = 0
		err := eachRef(body, text, func(literal []byte, s string, _ bool) { size += len(literal) + skein.QuotedLen(s) })
		if err != nil {
			return nil, err
		}
	}
	out := make([]byte, 0, size)
	err := eachRef(body, text, func(literal []byte, s string, last bool) {
		if out = append(out, literal...); !last {
			out = skein.AppendQuoted(out, s)
		}
	})
	return out, err
}

// eachRef calls f with each literal in body, and the string that follows it; none
// follows the last.
func eachRef(body []byte, text string, f func(literal []byte, s string, last bool)) error {
	bad := func(what string) error { return fmt.Errorf("payload: %s: %w", what, skein.ErrCorrupt) }
	at := int64(0)
	for {
		n, k := binary.Uvarint(body)
		if k <= 0 || n > uint64(len(body)-k) {
			return bad("a literal is cut off")
		}
		literal := body[k : k+int(n)]
		if body = body[k+int(n):]; len(body) == 0 {
			f(literal, "", true)
			return nil
		}
		d, k := binary.Varint(body)
		if k <= 0 {
			return bad("a reference is cut off")
		}
		body = body[k:]
		l, k := binary.Uvarint(body)
		start := at + d
		if k <= 0 || start < 0 || start > int64(len(text)) || l > uint64(int64(len(text))-start) {
			return bad(fmt.Sprintf("a reference goes beyond the text of %d bytes", len(text)))
		}
		body, at = body[k:], start+int64(l)
		f(literal, text[start:at], false)
	}
}
