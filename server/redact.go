package server

import (
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
)

// redactEntry takes what looks like a secret out of what people read of a
// message. What e points to is not changed: it may be the store's.
func redactEntry(e *skein.Entry, redact func(string) string) {
	raw := func(b json.RawMessage) json.RawMessage {
		if len(b) == 0 {
			return b
		}
		if clean := json.RawMessage(redact(string(b))); json.Valid(clean) {
			return clean
		}
		return json.RawMessage(`"(redacted)"`)
	}
	e.Message.Parts = slices.Clone(e.Message.Parts)
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		p.Text, p.Raw, p.Meta = skein.Text(redact(string(p.Text))), raw(p.Raw), raw(p.Meta)
		if p.Call != nil {
			c := *p.Call
			c.Input = raw(c.Input)
			p.Call = &c
		}
		if p.Result != nil {
			r := *p.Result
			r.Text, r.Raw = skein.Text(redact(string(r.Text))), raw(r.Raw)
			p.Result = &r
		}
	}
	e.Message.Meta = raw(e.Message.Meta)
}
