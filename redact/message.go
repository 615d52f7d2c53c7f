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
	s.Title, s.First, s.LastPrompt = r.Start(s.Title), r.Start(s.First), r.Start(s.LastPrompt)
	for _, text := range append(s.Checkout.Texts(),
		&s.Description, &s.Key, &s.Surface, &s.Project, &s.Cwd, &s.Agent, &s.Profile, &s.Provider, &s.Model, &s.Status, &s.LockedBy,
	) {
		*text = r.Text(*text)
	}
	s.Tags = slices.Clone(s.Tags)
	for i := range s.Tags {
		s.Tags[i] = r.Text(s.Tags[i])
	}
	if s.Origin != nil {
		o := *s.Origin
		o.Path = r.Text(o.Path)
		s.Origin = &o
	}
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
