package pack

import (
	"bytes"
	"encoding/base64"

	"github.com/skein-dev/skein"
)

// Texts finds strings in the texts of events, and the files that events refer to.
type Texts struct {
	quoted map[string]textRef
	files  []fileRef
}

type textRef struct {
	event      int
	start, end int
}

type fileRef struct {
	event int
	hash  []byte
	data  []byte
	size  int // in base64

	shared bool // with another event: records keep it, since either event may be deleted
}

// Add adds the spans of an event's text to the table.
func (t *Texts) Add(event int, spans *Quotes) {
	if t.quoted == nil {
		t.quoted = map[string]textRef{}
	}
	put := func(quoted string, s skein.Span) {
		for _, key := range [...]string{quoted, string(appendWithin(nil, quoted))} {
			if _, ok := t.quoted[key]; !ok {
				t.quoted[key] = textRef{event, s.Start, s.End}
			}
		}
	}
	for quoted, s := range spans.short {
		put(quoted, s)
	}
	for _, s := range spans.long {
		put(spans.quote(s), s)
	}
}

// AddFile adds a blob that an event refers to. hash is the SHA-256 of data.
func (t *Texts) AddFile(event int, hash, data []byte) {
	size := base64.StdEncoding.EncodedLen(len(data))
	if size < minFile {
		return
	}
	for i := range t.files {
		if f := &t.files[i]; bytes.Equal(f.hash, hash) {
			f.shared = f.shared || f.event != event
			return
		}
	}
	t.files = append(t.files, fileRef{event: event, hash: hash, data: data, size: size})
}

// Where a file is left out of a record.
const (
	minFile  = 256 // bytes of base64 below which that saves little
	maxTitle = 128 // bytes of the string before it, as in data:image/png;base64,
)

// file returns the file in base64 with which the string b[i:end] ends, and where that
// begins.
func (t *Texts) file(b []byte, i, end int) (f *fileRef, at int) {
	for k := range t.files {
		f := &t.files[k]
		if at := end - 1 - f.size; !f.shared && at > i && at-i-1 <= maxTitle && isBase64(b[at:end-1], f.data) {
			return f, at
		}
	}
	return nil, 0
}

// isBase64 reports whether b is data in base64.
func isBase64(b, data []byte) bool {
	var piece [1024]byte
	for len(data) > 0 {
		n := min(len(data), base64.StdEncoding.DecodedLen(len(piece)))
		base64.StdEncoding.Encode(piece[:], data[:n])
		rest, ok := bytes.CutPrefix(b, piece[:base64.StdEncoding.EncodedLen(n)])
		if !ok {
			return false
		}
		b, data = rest, data[n:]
	}
	return len(b) == 0
}

// appendWithin appends a quoted string in its form inside another string.
func appendWithin(b []byte, q string) []byte {
	from := len(b)
	b = skein.AppendQuoted(b, q)
	return append(b[:from], b[from+1:len(b)-1]...)
}

// split divides a record at the strings and files that are in t.
func (t *Texts) split(r skein.Record) Record {
	raw := r.Raw
	out := Record{Record: r, Length: len(raw)}
	out.Raw = nil
	done := 0
	take := func(i, end int, within bool) bool {
		if end-i <= minRef {
			return false
		}
		ref, ok := t.quoted[string(raw[i:end])]
		if ok {
			out.Pieces = append(out.Pieces, Piece{Bytes: raw[done:i], Event: ref.event, start: ref.start, len: ref.end - ref.start, Within: within})
			done = end
		}
		return ok
	}
	takeFile := func(i, end int) bool {
		f, at := t.file(raw, i, end)
		if f != nil {
			out.Pieces = append(out.Pieces, Piece{Bytes: raw[done:at], Event: f.event, Blob: f.hash})
			done = end - 1
		}
		return f != nil
	}
	for i := 0; i < len(raw) && t != nil && len(t.quoted)+len(t.files) > 0; {
		if raw[i] != '"' {
			i++
			continue
		}
		end := LiteralEnd(raw, i)
		if end-i > minRef && !take(i, end, false) && !takeFile(i, end) {
			eachWithin(raw, i+1, end-1, take)
		}
		i = end
	}
	out.Pieces = append(out.Pieces, Piece{Bytes: raw[done:]})
	return out
}

// eachWithin calls take with the strings that are inside the string b[i:end].
func eachWithin(b []byte, i, end int, take func(i, end int, within bool) bool) {
	for i < end {
		n := bytes.IndexByte(b[i:end], '\\')
		if n < 0 {
			return
		}
		if i += n; i+1 >= end || b[i+1] != '"' {
			i += 2
			continue
		}
		to := withinEnd(b[:end], i)
		take(i, to, true)
		i = to
	}
}

// withinEnd returns the end of the string that begins at b[i] inside another:
// the index after its quote, or the end of b.
func withinEnd(b []byte, i int) int {
	for i += 2; i < len(b); {
		n := bytes.IndexByte(b[i:], '\\')
		if n < 0 || i+n+2 >= len(b) {
			if n >= 0 && i+n+1 < len(b) && b[i+n+1] == '"' {
				return i + n + 2
			}
			return len(b)
		}
		i += n
		switch {
		case b[i+1] == '"':
			return i + 2
		case b[i+1] == '\\' && b[i+2] == '\\': // an escaped quote or backslash of the inner string
			i += 4
		case b[i+1] == '\\':
			i += 3
		default:
			i += 2
		}
	}
	return len(b)
}
