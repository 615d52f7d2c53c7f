package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A renaming knows which owners and IDs the sessions of the first store have, or are to
// have, in the second.
type renaming struct {
	from     skein.Store // read around what is damaged
	to       skein.Store
	all      skein.Store               // the second store, with everybody's sessions
	owners   map[skein.User]skein.User // see Options.Users
	only     skein.User                // whose views from and to are; "" for everybody's
	sessions map[skein.SessionID]*sourceSession
	order    []skein.SessionID                 // of sessions, as listed
	there    map[skein.SessionID]skein.Session // the sessions that the second store listed
	others   map[skein.SessionID]skein.Session // other users' sessions there that have the ID of one of these
	routes                                     // of sessions that have another ID there
	ours     map[skein.SessionID]bool          // the IDs there of all sessions
}

// whose returns the user in the second store who gets the sessions of u in the first.
func (n *renaming) whose(u skein.User) skein.User {
	if to, ok := n.owners[u]; ok {
		return to
	}
	return u
}

// names finds the IDs that sessions have, or are to have, in the second store. If
// users were named, a session whose own ID is taken there gets another one, as in
// [Send]; a whole store is copied with its IDs, or not at all.
func (n *renaming) names(ctx context.Context) error {
	if err := n.lookUp(ctx); err != nil {
		return err
	}
	for _, id := range n.order {
		k := n.sessions[id]
		if n.only != "" {
			to, err := pick(id, n.look(ctx, id, func() (skein.Event, error) { return n.first(ctx, k) }))
			if err != nil {
				return err
			}
			n.called(id, to)
		}
		is := n.there[n.place(id)]
		if is.ID != "" && is.User != n.whose(k.User) {
			return fmt.Errorf("session %s %w and belongs to user %s, not to %s", id, skein.ErrExists, is.User, n.whose(k.User))
		}
		k.have = is.Last
		n.ours[n.place(id)] = true
		if p := k.Parent; k.Base > 0 && p != nil && n.sessions[p.Session] == nil && is.Parent != nil {
			n.called(p.Session, is.Parent.Session) // the session in its place had this ID
		}
	}
	return nil
}

// lookUp finds out which of the IDs of the sessions are other users' in the second
// store.
func (n *renaming) lookUp(ctx context.Context) error {
	n.others = map[skein.SessionID]skein.Session{}
	if n.only == "" {
		return nil
	}
	ids := slices.DeleteFunc(slices.Clone(n.order), func(id skein.SessionID) bool { return n.there[id].ID != "" })
	for part := range slices.Chunk(ids, maxEvents) {
		for _, bin := range []bool{false, true} {
			for x, err := range n.all.Sessions(ctx, skein.Filter{IDs: part, IncludeEmpty: true, Bin: bin}) {
				if err != nil {
					return err
				}
				n.others[x.ID] = x
			}
		}
	}
	return nil
}

// atAll returns the session that has an ID in the second store, whoever's it is, and
// false if there is none.
func (n *renaming) atAll(ctx context.Context, id skein.SessionID) (skein.Session, bool, error) {
	if is, there := n.there[id]; there {
		return is, true, nil
	}
	if is, there := n.others[id]; there || n.sessions[id] != nil {
		return is, there, nil
	}
	is, err := n.all.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return is, false, nil
	}
	return is, err == nil, err
}

// called notes that the session id has, or is to have, the ID to in the second store.
func (n *renaming) called(id, to skein.SessionID) {
	if id != to {
		n.routes[id] = eventMap{{to: to}}
	}
}

// first returns the event that begins k.
func (n *renaming) first(ctx context.Context, k *sourceSession) (skein.Event, error) {
	e, err := at(ctx, n.from, k.ID, k.Base+1)
	return begun(e, &k.Session), err
}

// look returns a function that reports whether the second store has the session own,
// whose beginning first returns, under an ID.
func (n *renaming) look(ctx context.Context, own skein.SessionID, first func() (skein.Event, error)) func(skein.SessionID) (occupant, error) {
	found := false
	return func(id skein.SessionID) (occupant, error) {
		if id != own && n.sessions[id] != nil {
			return another, nil
		}
		if _, listed := n.there[id]; found && !listed {
			return another, nil // a free ID suffices
		}
		is, there, err := n.atAll(ctx, id)
		switch {
		case err != nil:
			return another, err
		case !there:
			found = true
			return free, nil
		}
		if is.User != n.whose(n.only) {
			return another, nil
		}
		if k := n.sessions[own]; k != nil && alikeRows(k.Session, is) {
			return itself, nil
		}
		mine, err := first()
		if err != nil {
			return another, err
		}
		theirs, err := at(ctx, n.to, id, is.Base+1)
		if err != nil || compareEvents(mine, theirs) == unlike {
			return another, err
		}
		return itself, nil
	}
}

// given returns e, the session id's own event, as it is stored in the second store: with
// the IDs that sessions have there, and without its user if that user has another name
// there, since the view determines the owner.
func (n *renaming) given(id skein.SessionID, e skein.Event) (skein.Event, error) {
	switch {
	case n.only == "":
		return e, nil
	case e.Kind == skein.KindTool:
		return translateTool(e, n.routes)
	case e.Kind != skein.KindCreated:
		return e, nil
	}
	e, err := translateCreated(e, n.whose, n.routes)
	if to := n.place(id); err == nil && to != id {
		e, err = mark(e, id, to)
	}
	return e, err
}

// givenFile returns what is stored about a source file in the second store.
func (n *renaming) givenFile(f skein.SourceFile) skein.SourceFile {
	f.Session, f.CopyOf = n.place(f.Session), n.place(f.CopyOf)
	return f
}

func (n *renaming) user(id skein.SessionID) skein.User {
	if k := n.sessions[id]; k != nil {
		return k.User
	}
	return cmp.Or(n.only, skein.Local)
}

// users returns all users of the first store whose sessions are copied.
func (n *renaming) users() (all []skein.User) {
	if n.only != "" {
		return []skein.User{n.only}
	}
	all = append(all, skein.Local)
	for _, k := range n.sessions {
		all = append(all, k.User)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
