package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
)

// rawly reports an error if what looks like a secret is asked for by who may not
// see that.
func rawly(ctx context.Context, asked bool) error {
	if v := door.From(ctx); asked && !v.Raw {
		return refuse(http.StatusForbidden, "scope", "%s", v.NoRaw())
	}
	return nil
}

// veiled returns e as it is told: without secrets, unless they are asked for.
func (a *service) veiled(e skein.Event, raw bool) skein.Event {
	if raw || a.Redact == nil {
		return e
	}
	return a.Redact.Event(e)
}

// veiledEntries are entries as they are told.
func (a *service) veiledEntries(all []skein.Entry, raw bool) []skein.Entry {
	out := append([]skein.Entry{}, all...)
	if raw || a.Redact == nil {
		return out
	}
	for i := range out {
		out[i] = a.Redact.Entry(out[i])
	}
	return out
}

// veiledSession is a session as it is told: its names are for people.
func (a *service) veiledSession(s skein.Session) skein.Session {
	if a.Redact == nil {
		return s
	}
	return a.Redact.Session(s)
}

// veiledMessages are the messages of a context as they are told.
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

// veiledJSON is a provider's own item as it is told.
func (a *service) veiledJSON(b json.RawMessage, raw bool) json.RawMessage {
	if raw || a.Redact == nil || len(b) == 0 {
		return b
	}
	return a.Redact.JSON(b)
}

// resolve returns the session that a name means: by its title only if the title
// shows that name.
func (a *service) resolve(ctx context.Context, name string, f skein.Filter) (skein.Session, error) {
	s, err := skein.Resolve(ctx, door.From(ctx).Store, name, f)
	if err != nil || s.Key == name || strings.HasPrefix(string(s.ID), name) || strings.HasSuffix(string(s.ID), name) {
		return s, err
	}
	shown := a.veiledSession(s)
	if !strings.Contains(strings.ToLower(s.Name()), strings.ToLower(name)) || strings.Contains(strings.ToLower(shown.Name()), strings.ToLower(name)) {
		return s, nil
	}
	return skein.Session{}, fmt.Errorf("session %q: %w", name, skein.ErrNotFound)
}
