package wire

import "encoding/json"

// An Replacement replaces a part of a line.
type Replacement struct {
	LineRange
	Text []byte
}

// Apply returns line with edits, which are in order and do not overlap: line itself
// if there are none.
func Apply(line []byte, edits []Replacement) []byte {
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
func Rename(line []byte, all []Message, name func(id string) string) (edits []Replacement) {
	for i := range all {
		for _, span := range all[i].Sessions {
			id := Unquote(span.Of(line))
			if other := name(id); other != id {
				edits = append(edits, Replacement{span, Quote(other)})
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
