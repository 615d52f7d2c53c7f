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
