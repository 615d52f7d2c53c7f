package pack

import (
	"bytes"

	"github.com/skein-dev/skein"
)

// Texts finds strings in the texts of events.
type Texts map[string]textRef

type textRef struct {
	event      int
	start, end int
}

// Add adds the spans of an event's text to the table.
func (t Texts) Add(event int, spans *Quotes) {
	put := func(quoted string, s skein.Span) {
		for _, key := range [...]string{quoted, string(appendWithin(nil, quoted))} {
			if _, ok := t[key]; !ok {
				t[key] = textRef{event, s.Start, s.End}
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

// appendWithin appends a quoted string in its form inside another string.
func appendWithin(b []byte, q string) []byte {
	from := len(b)
	b = skein.AppendQuoted(b, q)
	return append(b[:from], b[from+1:len(b)-1]...)
}

// split divides a record at the strings that are in t.
func (t Texts) split(r skein.Record) Record {
	raw := r.Raw
	out := Record{Record: r, Length: len(raw)}
	out.Raw = nil
	done := 0
	take := func(i, end int, within bool) bool {
		if end-i <= minRef {
			return false
		}
		ref, ok := t[string(raw[i:end])]
		if ok {
			out.Pieces = append(out.Pieces, Piece{raw[done:i], ref.event, ref.start, ref.end - ref.start, within})
			done = end
		}
		return ok
	}
	for i := 0; i < len(raw) && len(t) > 0; {
		if raw[i] != '"' {
			i++
			continue
		}
		end := LiteralEnd(raw, i)
		if !take(i, end, false) && end-i > minRef {
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
