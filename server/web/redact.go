package web

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// Redact returns text with its secrets masked.
func (s *site) Redact(text string) string {
	if s.Secrets == nil {
		return text
	}
	return s.Secrets.Text(text)
}

// veiled returns a session with the secrets in its names masked.
func (s *site) veiled(one skein.Session) skein.Session {
	if s.Secrets == nil {
		return one
	}
	return s.Secrets.Session(one)
}

// told returns the visitor's store as the pages show it. A visitor who may not
// see secrets cannot find out about them by searching either.
func (s *site) told(ctx context.Context) skein.Store {
	switch v := door.From(ctx); {
	case s.Secrets == nil:
		return v.Store
	case v.Raw:
		return s.Secrets.Cover(v.Store)
	default:
		return s.Secrets.Veil(v.Store)
	}
}

// veil masks the secrets in what the page shows.
func (t *transcriber) veil(w window) window {
	if t.Raw || t.Secrets == nil {
		return w
	}
	for i := range w.Entries {
		e := t.Secrets.Entry(w.Entries[i])
		t.Hid = t.Hid || !sameText(&e.Message, &w.Entries[i].Message)
		w.Entries[i] = e
	}
	for i := range w.Events {
		w.Events[i] = t.Secrets.Event(w.Events[i])
	}
	t.Session = t.Secrets.Session(t.Session)
	return w
}

// sameText reports whether two messages, one made from the other, have the same
// text.
func sameText(a, b *skein.Message) bool {
	for i := range a.Parts {
		p, q := &a.Parts[i], &b.Parts[i]
		switch {
		case p.Text != q.Text,
			p.Call != nil && string(p.Call.Input) != string(q.Call.Input),
			p.Result != nil && (p.Result.Text != q.Result.Text || string(p.Result.Raw) != string(q.Result.Raw)):
			return false
		}
	}
	return true
}
