package replay

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/skein-dev/skein"
)

// names are the IDs that sessions of a log have, or get, in a store: a different one
// if another user, whose sessions the store does not show, has a session with that ID.
type names struct {
	store skein.Store
	known map[skein.SessionID]skein.SessionID
}

// of returns the ID of session id in the store or, if it is not there, the one that it
// will get.
func (n names) of(ctx context.Context, id skein.SessionID) (skein.SessionID, error) {
	if err := id.Check(); err != nil {
		return id, err
	}
	if here, ok := n.known[id]; ok {
		return here, nil
	}
	here, err := skein.Here(ctx, n.store, id)
	if err == nil {
		n.known[id] = here
	}
	return here, err
}

// in returns e with the ID that its parent has in the store.
func (n names) in(ctx context.Context, e skein.Event) (skein.Event, error) {
	if e.Kind != skein.KindCreated {
		return e, nil
	}
	c, err := skein.Decode[skein.Created](e)
	if err != nil || c.Parent == nil || c.Parent.Session.Check() != nil {
		return e, nil //nolint:nilerr // the store says what is wrong with it
	}
	here, err := n.of(ctx, c.Parent.Session)
	if err != nil || here == c.Parent.Session {
		return e, err
	}
	var all, parent map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(e.Payload, &all), json.Unmarshal(all["parent"], &parent)); err != nil {
		return e, err
	}
	parent["session"] = skein.MustJSON(here)
	all["parent"] = skein.MustJSON(parent)
	e.Payload = skein.MustJSON(all)
	return e, nil
}
