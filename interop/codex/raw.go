package codex

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// maxNest is how deep JSON may be that stands in a string: it comes to stand
// inside an event, and must be readable there.
const maxNest = 1000

// skeinRaw returns v as a part of a payload; nil if it is null.
func skeinRaw(v jsontext.Value) json.RawMessage {
	if isNull(v) {
		return nil
	}
	return json.RawMessage(v)
}

// fromString returns the JSON that a string holds, or the string itself if it
// holds none.
func fromString(v jsontext.Value) json.RawMessage {
	if isNull(v) {
		return nil
	}
	if v[0] != '"' {
		return json.RawMessage(v)
	}
	s, _ := skein.Unquote(v)
	if len(s) > 0 && depth([]byte(s)) <= maxNest && skein.Text(s).UTF8() == s && json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	return json.RawMessage(v)
}

// depth returns how deep the objects and arrays of b are nested.
func depth(b []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// without returns the object v without the named fields, the others as they
// stand, in their order.
func without(v jsontext.Value, names ...string) json.RawMessage {
	dec := jsontext.NewDecoder(bytes.NewReader(v), lenient())
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return skeinRaw(v)
	}
	out := []byte{'{'}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadValue()
		if err != nil {
			return skeinRaw(v)
		}
		name = name.Clone()
		value, err := dec.ReadValue()
		if err != nil {
			return skeinRaw(v)
		}
		if slices.Contains(names, str(name)) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}')
}

// first returns a, or b if a is empty.
func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
