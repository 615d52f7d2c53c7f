package server

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
)

// redactEntry takes what looks like a secret out of what people read of a
// message. What e points to is not changed: it may be the store's.
func redactEntry(e *skein.Entry, r *redact.Redactor) {
	e.Message.Parts = slices.Clone(e.Message.Parts)
	e.Message.Meta = r.JSON(e.Message.Meta)
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		p.Text, p.Raw, p.Meta = skein.Text(r.Text(string(p.Text))), r.JSON(p.Raw), r.JSON(p.Meta)
		if p.Call != nil {
			c := *p.Call
			c.Input = r.JSON(c.Input)
			p.Call = &c
		}
		if p.Result != nil {
			x := *p.Result
			x.Text, x.Raw = skein.Text(r.Text(string(x.Text))), r.JSON(x.Raw)
			p.Result = &x
		}
	}
}
