package wire

import (
	"bytes"
	"encoding/json"
	"slices"
)

// An LineEdit replaces a part of a line.
type LineEdit struct {
	LineRange
	Text []byte
}

// Apply returns line with edits, which are in order and do not overlap: line itself
// if there are none.
func Apply(line []byte, edits []LineEdit) []byte {
	if len(edits) == 0 {
		return line
	}
	size := len(line)
	for _, e := range edits {
		size += len(e.Text) - (e.To - e.From)
	}
	out, done := make([]byte, 0, size), 0
	for _, e := range edits {
		out = append(append(out, line[done:e.From]...), e.Text...)
		done = e.To
	}
	return append(out, line[done:]...)
}

// Rename returns the edits that replace the session IDs in messages by what name
// returns for them. An ID for which it returns itself stays, byte for byte.
func Rename(line []byte, all []Message, name func(id string) string) (edits []LineEdit) {
	for i := range all {
		for _, span := range all[i].Sessions {
			id := Unquote(span.Of(line))
			if other := name(id); other != id {
				edits = append(edits, LineEdit{span, Quote(other)})
			}
		}
	}
	return edits
}

// Quote returns s as a JSON string.
func Quote(s string) []byte {
	b, _ := json.Marshal(s) //nolint:errcheck // a string is always marshaled
	return b
}

// Member returns the value of a member of a JSON object; nil if it has none.
func Member(object []byte, name string) []byte {
	at, _ := member(object, name)
	return at.Of(object)
}

// With returns a JSON object in which a member has a value, and everything else is as
// it was. If object is not an object, a new one takes its place.
func With(object []byte, name string, value []byte) []byte {
	at, ok := member(object, name)
	if !ok {
		object = []byte("{}")
	}
	if at.To == 0 {
		open := bytes.IndexByte(object, '{') + 1
		text := slices.Concat(Quote(name), []byte(":"), value)
		if rest := bytes.TrimLeft(object[open:], " \t\r\n"); len(rest) > 0 && rest[0] != '}' {
			text = append(text, ',')
		}
		return Apply(object, []LineEdit{{LineRange{open, open}, text}})
	}
	return Apply(object, []LineEdit{{at, value}})
}

// member returns where the value of a member is; ok is false if b is not an object.
func member(b []byte, name string) (at LineRange, ok bool) {
	s := scanner{b: b}
	if s.space(); s.i == len(b) || b[s.i] != '{' {
		return at, false
	}
	for s.i++; ; s.i++ {
		if s.space(); s.i == len(b) || b[s.i] == '}' {
			return at, s.i < len(b)
		}
		n, ok := s.name()
		from := s.i
		if !ok || !s.skip(0) {
			return LineRange{}, false
		}
		if n == name {
			at = LineRange{from, s.i}
		}
		if s.space(); s.i == len(b) || b[s.i] != ',' {
			return at, s.i < len(b) && b[s.i] == '}'
		}
	}
}
