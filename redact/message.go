package redact

import (
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
)

// Message returns m without secrets. m itself is not modified; parts without
// secrets are shared.
func (r *Redactor) Message(m *skein.Message) skein.Message {
	to := *m
	to.Meta = r.raw(m.Meta)
	to.Parts = slices.Clone(m.Parts)
	for i := range to.Parts {
		r.part(&to.Parts[i])
	}
	if m.Error != nil {
		e := *m.Error
		e.Message = r.Text(e.Message)
		to.Error = &e
	}
	return to
}

// Entry returns e without secrets, as [Redactor.Message] does.
func (r *Redactor) Entry(e skein.Entry) skein.Entry {
	e.Message = r.Message(&e.Message)
	return e
}

// Event returns e without secrets.
func (r *Redactor) Event(e skein.Event) skein.Event {
	e.Payload = r.raw(e.Payload)
	return e
}

// Session returns s without secrets.
func (r *Redactor) Session(s skein.Session) skein.Session {
	s.Title, s.Description = r.Start(s.Title), r.Text(s.Description)
	s.First, s.LastPrompt = r.Start(s.First), r.Start(s.LastPrompt)
	s.Status = r.Text(s.Status)
	return s
}

func (r *Redactor) raw(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return b
	}
	return r.JSON(b)
}

// part masks the secrets in p, which is a copy; what it points to may be
// shared.
func (r *Redactor) part(p *skein.Part) {
	p.Text, p.Raw, p.Meta = skein.Text(r.Text(string(p.Text))), r.raw(p.Raw), r.raw(p.Meta)
	if p.Call != nil {
		c := *p.Call
		c.Input = r.raw(c.Input)
		p.Call = &c
	}
	if p.Result != nil {
		x := *p.Result
		x.Text, x.Raw, x.Files = skein.Text(r.Text(string(x.Text))), r.raw(x.Raw), slices.Clone(x.Files)
		for i := range x.Files {
			r.file(&x.Files[i])
		}
		p.Result = &x
	}
	if p.File != nil {
		f := *p.File
		r.file(&f)
		p.File = &f
	}
}

func (r *Redactor) file(f *skein.File) { f.Name, f.URL = r.Text(f.Name), r.Text(f.URL) }
