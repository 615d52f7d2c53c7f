package agsh

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/internal/loose"
)

// maxNest is how deep JSON in a column may be nested: it ends up inside an event, and
// must be readable there.
const maxNest = 1000

// asJSON returns text as JSON: unchanged or, if it is not JSON or nested too deep, as
// a string.
func asJSON(text string) json.RawMessage {
	if jsonl.Depth(text) <= maxNest && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return skein.MustJSON(skein.Text(text))
}

// list returns the values of a JSON array, and false if text is not one.
func list(text string) (vs []jsontext.Value, ok bool) {
	if jsonl.Depth(text) > maxNest || !json.Valid([]byte(text)) || jsonv2.Unmarshal([]byte(text), &vs, loose.Options()) != nil || vs == nil {
		return nil, false
	}
	return vs, true
}
