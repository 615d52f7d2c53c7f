package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// whose returns the user in the second store who gets the sessions of u in the first.
func (c *copier) whose(u skein.User) skein.User {
	if to, ok := c.o.Users[u]; ok {
		return to
	}
	return u
}

// names finds the IDs that sessions have, or are to have, in the second store. If
// users were named, a session whose own ID is taken there gets another one, as in
// [Send]; a whole store is copied with its IDs, or not at all.
func (c *copier) names(ctx context.Context) error {
	if err := c.lookUp(ctx); err != nil {
		return err
	}
	for _, id := range c.order {
		k := c.sessions[id]
		if c.only != "" {
			to, err := pick(id, c.look(ctx, id, func() (skein.Event, error) { return c.first(ctx, k) }))
			if err != nil {
				return err
			}
			c.called(id, to)
		}
		is := c.there[c.place(id)]
		if is.ID != "" && is.User != c.whose(k.User) {
			return fmt.Errorf("session %s %w as one of user %s, not of %s", id, skein.ErrExists, is.User, c.whose(k.User))
		}
		k.have = is.Last
		c.ours[c.place(id)] = true
		if p := k.Parent; k.Base > 0 && p != nil && c.sessions[p.Session] == nil && is.Parent != nil {
			c.called(p.Session, is.Parent.Session) // the session in its place had this ID
		}
	}
	return nil
}

// lookUp finds out which of the IDs of the sessions are other users' in the second
// store.
func (c *copier) lookUp(ctx context.Context) error {
	c.others = map[skein.SessionID]skein.Session{}
	if c.only == "" {
		return nil
	}
	ids := slices.DeleteFunc(slices.Clone(c.order), func(id skein.SessionID) bool { return c.there[id].ID != "" })
	for part := range slices.Chunk(ids, maxEvents) {
		for _, bin := range []bool{false, true} {
			for x, err := range c.all.Sessions(ctx, skein.Filter{IDs: part, IncludeEmpty: true, Bin: bin}) {
				if err != nil {
					return err
				}
				c.others[x.ID] = x
			}
		}
	}
	return nil
}

// atAll returns the session that has an ID in the second store, whoever's it is, and
// false if there is none.
func (c *copier) atAll(ctx context.Context, id skein.SessionID) (skein.Session, bool, error) {
	if is, there := c.there[id]; there {
		return is, true, nil
	}
	if is, there := c.others[id]; there || c.sessions[id] != nil {
		return is, there, nil
	}
	is, err := c.all.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return is, false, nil
	}
	return is, err == nil, err
}

// called notes that the session id has, or is to have, the ID to in the second store.
func (c *copier) called(id, to skein.SessionID) {
	if id != to {
		c.routes[id] = route{{to: to}}
	}
}

// first returns the event that begins k.
func (c *copier) first(ctx context.Context, k *known) (skein.Event, error) {
	e, err := at(ctx, c.from, k.ID, k.Base+1)
	return begun(e, &k.Session), err
}

// look returns a function that reports whether the second store has the session own,
// whose beginning first returns, under an ID.
func (c *copier) look(ctx context.Context, own skein.SessionID, first func() (skein.Event, error)) func(skein.SessionID) (occupant, error) {
	found := false
	return func(id skein.SessionID) (occupant, error) {
		if id != own && c.sessions[id] != nil {
			return another, nil
		}
		if _, listed := c.there[id]; found && !listed {
			return another, nil // a free ID suffices
		}
		is, there, err := c.atAll(ctx, id)
		switch {
		case err != nil:
			return another, err
		case !there:
			found = true
			return free, nil
		}
		if is.User != c.whose(c.only) {
			return another, nil
		}
		if k := c.sessions[own]; k != nil && alikeRows(k.Session, is) {
			return itself, nil
		}
		mine, err := first()
		if err != nil {
			return another, err
		}
		theirs, err := at(ctx, c.to, id, is.Base+1)
		if err != nil || compareEvents(mine, theirs) == unlike {
			return another, err
		}
		return itself, nil
	}
}

// given returns e, the session id's own event, as it is stored in the second store: with
// the IDs that sessions have there, and without its user if that user has another name
// there, since the view determines the owner.
func (c *copier) given(id skein.SessionID, e skein.Event) (skein.Event, error) {
	switch {
	case c.only == "":
		return e, nil
	case e.Kind == skein.KindTool:
		return translateTool(e, c.routes)
	case e.Kind != skein.KindCreated:
		return e, nil
	}
	e, err := translateCreated(e, c.whose, c.routes)
	if to := c.place(id); err == nil && to != id {
		e, err = mark(e, id, to)
	}
	return e, err
}

// givenFile returns what is stored about a source file in the second store.
func (c *copier) givenFile(f skein.SourceFile) skein.SourceFile {
	f.Session, f.CopyOf = c.place(f.Session), c.place(f.CopyOf)
	return f
}
