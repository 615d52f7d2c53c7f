package replay

import (
	"bytes"
	"encoding/json"

	"github.com/skein-dev/skein"
)

// withoutKey returns the payload of a created or changed event without the
// member key, and the key; "" if it has none.
func withoutKey(e skein.Event) (payload json.RawMessage, key string) {
	if e.Kind != skein.KindCreated && e.Kind != skein.KindChanged {
		return e.Payload, ""
	}
	dec := json.NewDecoder(bytes.NewReader(e.Payload))
	if _, err := dec.Token(); err != nil {
		return e.Payload, ""
	}
	for first := true; dec.More(); first = false {
		from := dec.InputOffset()
		name, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			return e.Payload, ""
		}
		if name != "key" || json.Unmarshal(value, &key) != nil || key == "" {
			continue
		}
		head, rest := e.Payload[:from], e.Payload[dec.InputOffset():]
		if first {
			rest = bytes.TrimPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(","))
		}
		return bytes.Join([][]byte{head, rest}, nil), key
	}
	return e.Payload, ""
}
