package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/lookup"
)

// rawly returns an error if secrets are asked for by a visitor who may not see
// them.
func rawly(ctx context.Context, asked bool) error {
	if v := door.From(ctx); asked && !v.Raw {
		return openapi.Refuse(http.StatusForbidden, "scope", "%s", v.NoRaw())
	}
	return nil
}

// veiled returns e without secrets, unless raw is set.
func (a *service) veiled(e skein.Event, raw bool) skein.Event {
	if raw || a.Redact == nil {
		return e
	}
	return a.Redact.Event(e)
}

// veiledEntry returns e without secrets, unless raw is set.
func (a *service) veiledEntry(e skein.Entry, raw bool) skein.Entry {
	if raw || a.Redact == nil {
		return e
	}
	return a.Redact.Entry(e)
}

// veiledSession returns a session without secrets: its names are for people.
func (a *service) veiledSession(s skein.Session) skein.Session {
	if a.Redact == nil {
		return s
	}
	return a.Redact.Session(s)
}

// veiledMessages returns the messages of a context without secrets, unless raw
// is set.
func (a *service) veiledMessages(all []skein.Message, raw bool) []skein.Message {
	if raw || a.Redact == nil {
		return all
	}
	out := make([]skein.Message, len(all))
	for i := range all {
		out[i] = a.Redact.Message(&all[i])
	}
	return out
}

// veiledJSON returns a provider's own item without secrets, unless raw is set.
func (a *service) veiledJSON(b json.RawMessage, raw bool) json.RawMessage {
	if raw || a.Redact == nil || len(b) == 0 {
		return b
	}
	return a.Redact.JSON(b)
}

// shownStore returns the visitor's store: with secrets if raw is set, and otherwise
// as if they did not exist.
func (a *service) shownStore(ctx context.Context, raw bool) skein.Store {
	store := door.From(ctx).Store
	if raw || a.Redact == nil {
		return store
	}
	return a.Redact.Veil(store)
}

// resolve returns the session that a name stands for. Titles are matched
// without their secrets.
func (a *service) resolve(ctx context.Context, name string, f skein.Filter) (skein.Session, error) {
	s, err := lookup.Resolve(ctx, a.shownStore(ctx, false), name, f)
	if err != nil {
		return s, err
	}
	return door.From(ctx).Store.Session(ctx, s.ID)
}

// legible returns the visitor's store with placeholders for damaged events, so
// that they hide nothing else.
func legible(ctx context.Context) skein.Store { return lenient.Store(door.From(ctx).Store, nil) }
