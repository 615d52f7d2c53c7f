package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/search"
)

// removal says what happened to a session and its children.
type removal struct {
	ID       skein.SessionID   `json:"id"`
	Purged   bool              `json:"purged"`
	Events   int               `json:"events,omitempty" doc:"number of events that were destroyed"`
	Bytes    int64             `json:"bytes,omitempty" doc:"approximate number of bytes that were freed"`
	Forks    []skein.SessionID `json:"forks,omitempty" doc:"forks that took over events that they show"`
	Children []skein.SessionID `json:"children,omitempty" doc:"child sessions that were kept"`
	Binned   []skein.SessionID `json:"children_binned,omitempty" doc:"child sessions that went to the bin"`
}

// bins registers the routes that bin, restore and purge.
func (a sessionOps) bins(t *openapi.Table) {
	type in struct {
		ID       skein.SessionID `path:"id"`
		Children skein.ChildRule `query:"children" enum:"keep,bin,refuse" default:"keep" doc:"what happens to its children: keep them, bin them too, or refuse the request if there are any (409, refused)"`
	}
	type out struct{ Body removal }
	openapi.Register(t, openapi.Operation{
		ID: "bin-session", Method: http.MethodDelete, Path: "/sessions/{id}", Tag: "sessions", Scope: door.Write, Summary: "Put a session in the bin",
		Doc: "Lists and searches no longer show it, and its key is free. Restore brings it back; nothing is lost.", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, i *in) (*out, error) {
		r, err := bin(ctx, door.From(ctx).Store, i.ID, i.Children)
		return &out{r}, err
	})
	openapi.Register(t, openapi.Operation{
		ID: "purge-session", Method: http.MethodPost, Path: "/sessions/{id}/purge", Tag: "sessions", Scope: door.Write, Summary: "Destroy a session",
		Doc:    "Works for sessions in the bin and outside it, and cannot be undone. A token for one user can destroy that user's sessions; a token for all users needs the scope admin.",
		Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, i *in) (*out, error) {
		r, err := a.purge(ctx, i.ID, i.Children)
		return &out{r}, err
	})
	type one struct {
		ID skein.SessionID `path:"id"`
	}
	openapi.Register(t, openapi.Operation{
		ID: "restore-session", Method: http.MethodPost, Path: "/sessions/{id}/restore", Tag: "sessions", Scope: door.Write, Summary: "Take a session out of the bin",
		Doc: "If another session has taken its key since, the other session keeps the key.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *one) (*oneSession, error) {
		store := door.From(ctx).Store
		if err := skein.LifecycleOf(store).Restore(ctx, i.ID); err != nil {
			return nil, err
		}
		s, err := store.Session(ctx, i.ID)
		return a.answer(s), err
	})
}

func bin(ctx context.Context, store skein.Store, id skein.SessionID, rule skein.ChildRule) (removal, error) {
	r := removal{ID: id}
	below, err := childrenOf(ctx, store, id, map[skein.SessionID]bool{id: true})
	switch {
	case err != nil:
		return r, err
	case len(below) > 0 && rule == skein.RefuseChildren:
		return r, fmt.Errorf("session %s has %d children: %w", id, len(below), skein.ErrRefused)
	case rule == skein.BinChildren:
		for _, child := range below {
			if err := skein.LifecycleOf(store).Bin(ctx, child); err != nil {
				return r, err
			}
		}
		r.Binned = below
	default:
		r.Children = below
	}
	return r, skein.LifecycleOf(store).Bin(ctx, id)
}

// childrenOf returns all descendants of a session.
func childrenOf(ctx context.Context, store skein.Store, id skein.SessionID, seen map[skein.SessionID]bool) (all []skein.SessionID, err error) {
	var found []skein.SessionID
	for s, err := range store.Sessions(ctx, skein.Filter{Parent: id, IncludeEmpty: true}) {
		if err != nil {
			return nil, err
		}
		if s.Parent != nil && s.Parent.Why == skein.Child && !seen[s.ID] {
			seen[s.ID] = true
			found = append(found, s.ID)
		}
	}
	for _, child := range found {
		below, err := childrenOf(ctx, store, child, seen)
		if err != nil {
			return nil, err
		}
		all = append(append(all, child), below...)
	}
	return all, nil
}

// mayPurge returns an error if the visitor may not destroy sessions: the token
// sees everybody's, but lacks the scope admin.
func mayPurge(ctx context.Context) error {
	if v := door.From(ctx); !v.MayDestroy() {
		return openapi.Refuse(http.StatusForbidden, "scope", "the token %q may only %s all users' sessions; destroying them needs the scope admin", v.Token, v.Scope)
	}
	return nil
}

// purge destroys a session, and what is kept of it outside the store.
func (a sessionOps) purge(ctx context.Context, id skein.SessionID, rule skein.ChildRule) (removal, error) {
	if err := mayPurge(ctx); err != nil {
		return removal{}, err
	}
	store := door.From(ctx).Store
	s, err := store.Session(ctx, id)
	if err != nil {
		return removal{}, err
	}
	d, err := skein.LifecycleOf(store).Delete(ctx, id, skein.Deletion{Children: rule})
	if err == nil && a.Purged != nil {
		err = a.Purged(s.User, id)
	}
	return removal{id, true, d.Events, d.Bytes, d.Moved, d.Children, d.Binned}, err
}

// pruneQuery says which sessions to remove.
type pruneQuery struct {
	OlderThan  string `json:"older_than,omitempty" query:"older_than" doc:"only sessions that were inactive for this age, such as 30d or 12w, or since a date"`
	LargerThan int64  `json:"larger_than,omitempty" query:"larger_than" minimum:"0" doc:"only sessions that use more bytes than this on disk"`
	KeepPinned bool   `json:"keep_pinned,omitempty" query:"keep_pinned" doc:"leave pinned sessions alone"`
	Purge      bool   `json:"purge,omitempty" query:"purge" doc:"destroy the sessions, including those in the bin; without other conditions, empty the bin"`
}

// pruned is a session that a prune selected.
type pruned struct {
	ID      skein.SessionID `json:"id"`
	Name    string          `json:"name"`
	Updated skein.Time      `json:"updated_at,omitzero"`
	Bytes   int64           `json:"bytes"`
	Pinned  bool            `json:"pinned"`
	Binned  bool            `json:"binned" doc:"true if the session was already in the bin"`
	Done    string          `json:"done,omitempty" enum:"binned,destroyed,locked" doc:"omitted in a preview"`
}

// prunes registers prune: to preview it, and to do it.
func (a sessionOps) prunes(t *openapi.Table) {
	type pruneList struct {
		Items []pruned `json:"items"`
		Bytes int64    `json:"bytes" doc:"bytes that they use on disk, together"`
	}
	type out struct{ Body pruneList }
	done := func(found []pruned, err error) (*out, error) {
		o := &out{pruneList{Items: append([]pruned{}, found...)}}
		for _, p := range found {
			o.Body.Bytes += p.Bytes
		}
		return o, err
	}
	openapi.Register(t, openapi.Operation{ID: "preview-prune", Method: http.MethodGet, Path: "/prune", Tag: "sessions", Scope: door.Read, Summary: "Preview which sessions a prune would put in the bin, or destroy", Doc: "Changes nothing. POST with the same conditions does it."},
		func(ctx context.Context, q *pruneQuery) (*out, error) { return done(a.prunable(ctx, q)) })
	type in struct{ Body pruneQuery }
	openapi.Register(t, openapi.Operation{
		ID: "prune", Method: http.MethodPost, Path: "/prune", Tag: "sessions", Scope: door.Write, Body: door.MaxBody, Summary: "Put old or large sessions in the bin, or empty it",
		Doc: "Look at the preview first. Sessions in use stay; for them, done is locked. Destroying all users' sessions needs the scope admin.",
	}, func(ctx context.Context, i *in) (*out, error) {
		if i.Body.Purge {
			if err := mayPurge(ctx); err != nil {
				return nil, err
			}
		}
		found, err := a.prunable(ctx, &i.Body)
		if err != nil {
			return nil, err
		}
		for n := range found {
			if err := a.prune(ctx, &found[n], &i.Body); err != nil {
				return nil, err
			}
		}
		return done(found, nil)
	})
}

// prunable returns the sessions that q selects.
func (a sessionOps) prunable(ctx context.Context, q *pruneQuery) (found []pruned, err error) {
	f := skein.Filter{IncludeEmpty: true, LargerThan: q.LargerThan}
	if q.OlderThan != "" {
		if f.Until, err = search.ParseSince(q.OlderThan, a.Now()); err != nil {
			return nil, fmt.Errorf("older_than: %w", err)
		}
	}
	if conditions := q.OlderThan != "" || q.LargerThan != 0; conditions {
		if found, err = a.addPruned(ctx, found, f, q); err != nil {
			return nil, err
		}
	} else if !q.Purge {
		return nil, fmt.Errorf("%w: want older_than, larger_than, or purge alone to empty the bin", skein.ErrInvalid)
	}
	if q.Purge {
		f.Bin = true
		return a.addPruned(ctx, found, f, q)
	}
	return found, nil
}

func (a sessionOps) addPruned(ctx context.Context, found []pruned, f skein.Filter, q *pruneQuery) ([]pruned, error) {
	store := door.From(ctx).Store
	for s, err := range store.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		if s.Pinned && q.KeepPinned {
			continue
		}
		shown := a.veiledSession(s)
		p := pruned{ID: s.ID, Name: shown.Name(), Updated: s.Updated, Pinned: s.Pinned, Binned: s.Binned != 0}
		if p.Bytes, err = skein.LifecycleOf(store).Size(ctx, s.ID); err != nil && !errors.Is(err, skein.ErrNotFound) {
			return nil, err
		}
		found = append(found, p)
	}
	return found, nil
}

// prune bins p, or purges it. A session that is in use, or that somebody else
// removed meanwhile, does not stop the others.
func (a sessionOps) prune(ctx context.Context, p *pruned, q *pruneQuery) error {
	var err error
	p.Done = "binned"
	if q.Purge {
		p.Done = "destroyed"
		_, err = a.purge(ctx, p.ID, skein.KeepChildren)
	} else {
		err = skein.LifecycleOf(door.From(ctx).Store).Bin(ctx, p.ID)
	}
	switch {
	case errors.Is(err, skein.ErrLocked):
		p.Done = "locked"
		return nil
	case errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrDeleted):
		return nil
	}
	return err
}
