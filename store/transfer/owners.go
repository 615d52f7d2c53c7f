package transfer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// whose returns whose in the second store is what is u's in the first.
func (c *copier) whose(u skein.User) skein.User {
	if to, ok := c.o.Users[u]; ok {
		return to
	}
	return u
}

// owners refuses to give somebody what is another's in the second store.
func (c *copier) owners(context.Context) error {
	for _, id := range c.order {
		k := c.sessions[id]
		to := c.whose(k.User)
		if k.owner != "" && k.owner != to {
			return fmt.Errorf("session %s %w as one of user %s, not of %s", id, skein.ErrExists, k.owner, to)
		}
	}
	return nil
}

// given returns e as the second store is given it: if it names a user who is
// another there, then without that. Whose the session is the view says.
func (c *copier) given(e skein.Event) (skein.Event, error) {
	if len(c.o.Users) == 0 || e.Kind != skein.KindCreated {
		return e, nil
	}
	var f fields
	if err := json.Unmarshal(e.Payload, &f); err != nil {
		return e, err
	}
	var u skein.User
	if err := json.Unmarshal(f["user"], &u); f["user"] == nil || err != nil || c.whose(u) == u {
		return e, nil //nolint:nilerr // an event that was stored is sound; without a user there is nothing to do
	}
	delete(f, "user")
	e.Payload = skein.MustJSON(f)
	return e, nil
}
