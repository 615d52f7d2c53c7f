package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/lookup"
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

// veiledEntry is e as it is told.
func (a *service) veiledEntry(e skein.Entry, raw bool) skein.Entry {
	if raw || a.Redact == nil {
		return e
	}
	return a.Redact.Entry(e)
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

// told is the visitor's store as it is told: with secrets only if they are asked
// for, and else as if there were none.
func (a *service) told(ctx context.Context, raw bool) skein.Store {
	store := door.From(ctx).Store
	if raw || a.Redact == nil {
		return store
	}
	return a.Redact.Veil(store)
}

// resolve returns the session that a name means: by its title only as it is told.
func (a *service) resolve(ctx context.Context, name string, f skein.Filter) (skein.Session, error) {
	s, err := lookup.Resolve(ctx, a.told(ctx, false), name, f)
	if err != nil {
		return s, err
	}
	return door.From(ctx).Store.Session(ctx, s.ID)
}

// legible is the visitor's store with damaged events shown as such, so that they
// hide nothing else.
func legible(ctx context.Context) skein.Store { return lenient.Store(door.From(ctx).Store, nil) }
