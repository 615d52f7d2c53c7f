package skillet

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein/internal/loose"
)

// unmarshal reads b as T, a struct with only the members that are used. If a name is
// repeated, the last one counts, and a lone surrogate is kept.
func unmarshal[T any](b []byte) (v T, err error) {
	err = jsonv2.Unmarshal(b, &v, loose.Options())
	return v, err
}

// isObject reports whether text is a JSON object that an event can hold.
func isObject(text string) bool {
	return len(text) > 0 && text[0] == '{' && loose.Fits(text)
}

// raw returns v as a part of a payload; nil if it is null.
func raw(v jsontext.Value) json.RawMessage {
	if loose.IsNull(v) {
		return nil
	}
	return json.RawMessage(v)
}

// fromString returns the JSON in a string, or the string itself if it is not JSON.
func fromString(v jsontext.Value) json.RawMessage {
	if s := loose.Str(v); s != "" && loose.Fits(s) {
		return json.RawMessage(s)
	}
	return raw(v)
}

// firstOf returns the first that is not null.
func firstOf(all ...jsontext.Value) jsontext.Value {
	for _, v := range all {
		if !loose.IsNull(v) {
			return v
		}
	}
	return nil
}
