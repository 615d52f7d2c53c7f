package skillet

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
)

// maxNest is how deep JSON may be that stands in a string: it comes to stand
// inside an event, and must be readable there.
const maxNest = 1000

// unmarshal reads b as T, which is a struct of only what we use. A name that
// stands twice means the last one, and a lone surrogate is kept.
func unmarshal[T any](b []byte) (v T, err error) {
	err = jsonv2.Unmarshal(b, &v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return v, err
}

// isObject reports whether text is a JSON object that can stand in an event.
func isObject(text string) bool {
	return len(text) > 0 && text[0] == '{' && fits(text)
}

// fits reports whether text is JSON that can stand in an event.
func fits(text string) bool {
	return skein.Text(text).UTF8() == text && jsonl.Depth(text) <= maxNest && json.Valid([]byte(text))
}

// isNull reports whether v is missing or null.
func isNull(v jsontext.Value) bool { return len(v) == 0 || v[0] == 'n' }

// raw returns v as a part of a payload; nil if it is null.
func raw(v jsontext.Value) json.RawMessage {
	if isNull(v) {
		return nil
	}
	return json.RawMessage(v)
}

// str returns the string that v is, and "" if it is anything else.
func str(v jsontext.Value) string {
	if len(v) == 0 || v[0] != '"' {
		return ""
	}
	s, _ := skein.Unquote(v)
	return s
}

// fromString returns the JSON that a string holds, or the string itself if it
// holds none.
func fromString(v jsontext.Value) json.RawMessage {
	if s := str(v); s != "" && fits(s) {
		return json.RawMessage(s)
	}
	return raw(v)
}

// first returns the first that is not empty.
func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// firstOf returns the first that is not null.
func firstOf(all ...jsontext.Value) jsontext.Value {
	for _, v := range all {
		if !isNull(v) {
			return v
		}
	}
	return nil
}
