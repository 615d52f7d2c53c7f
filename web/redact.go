package web

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// redact takes the secrets out of m, in a copy of its parts.
func (s *site) redact(m *skein.Message) {
	parts := append([]skein.Part(nil), m.Parts...)
	for i := range parts {
		p := &parts[i]
		p.Text, p.Raw = s.text(p.Text), s.raw(p.Raw)
		if p.Call != nil {
			c := *p.Call
			c.Input = s.raw(c.Input)
			p.Call = &c
		}
		if p.Result != nil {
			r := *p.Result
			r.Text, r.Raw = s.text(r.Text), s.raw(r.Raw)
			p.Result = &r
		}
		p.Meta = nil // it may hold the same text again
	}
	m.Parts, m.Meta = parts, nil
	if m.Error != nil {
		e := *m.Error
		e.Message = s.Redact(e.Message)
		m.Error = &e
	}
}

func (s *site) text(t skein.Text) skein.Text {
	if without := s.Redact(string(t)); without != string(t) {
		return skein.Text(without)
	}
	return t
}

// raw takes secrets out of JSON; what is then no JSON any more is a string of
// it.
func (s *site) raw(r json.RawMessage) json.RawMessage {
	if len(r) == 0 {
		return r
	}
	without := s.Redact(string(r))
	switch {
	case without == string(r):
		return r
	case json.Valid([]byte(without)):
		return json.RawMessage(without)
	}
	return skein.MustJSON(without)
}
