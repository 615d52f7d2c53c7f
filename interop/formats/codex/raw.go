package codex

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein/internal/loose"
)

// skeinRaw returns v as a part of a payload, however deep it is; nil if it is
// null.
func skeinRaw(v jsontext.Value) json.RawMessage {
	if loose.IsNull(v) {
		return nil
	}
	return json.RawMessage(v)
}

// without returns the object v without the named members, the others unchanged and in
// order.
func without(v jsontext.Value, names ...string) json.RawMessage {
	o, err := loose.Parse(v)
	if err != nil {
		return skeinRaw(v)
	}
	return json.RawMessage(o.Without(names...))
}

// first returns a, or b if a is empty.
func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
