package server

import (
	"context"
	"fmt"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
)

// removal says what became of a session and its children.
type removal struct {
	ID       skein.SessionID   `json:"id"`
	Purged   bool              `json:"purged"`
	Events   int               `json:"events,omitempty" doc:"that were destroyed"`
	Bytes    int64             `json:"bytes,omitempty" doc:"freed, roughly"`
	Forks    []skein.SessionID `json:"forks,omitempty" doc:"that took over events which they show"`
	Children []skein.SessionID `json:"children,omitempty" doc:"that were kept"`
	Binned   []skein.SessionID `json:"children_binned,omitempty" doc:"that went to the bin"`
}

// bins registers the routes that bin, restore and purge.
func (a *service) bins(t *openapi.Table) {
	type in struct {
		ID       skein.SessionID `path:"id"`
		Children skein.ChildRule `query:"children" enum:"keep,bin,refuse" default:"keep" doc:"how its children fare: they stay, go to the bin too, or if there are any nothing happens (409, refused)"`
	}
	type out struct{ Body removal }
	openapi.Register(t, openapi.Operation{
		ID: "bin-session", Method: http.MethodDelete, Path: "/sessions/{id}", Tag: "sessions", Scope: door.Write, Summary: "Put a session in the bin",
		Doc: "Nothing shows or finds it any more, its key is free, and restore brings it back. Nothing is lost.", Errors: []int{http.StatusNotFound, http.StatusConflict},
	}, func(ctx context.Context, i *in) (*out, error) {
		r, err := bin(ctx, door.From(ctx).Store, i.ID, i.Children)
		return &out{r}, err
	})
	openapi.Register(t, openapi.Operation{
		ID: "purge-session", Method: http.MethodPost, Path: "/sessions/{id}/purge", Tag: "sessions", Scope: door.Write, Summary: "Destroy a session",
		Doc:    "In the bin or not, with everything that was found through it; this cannot be undone. A token of one user may destroy that user's sessions; one of everybody's needs the scope admin.",
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
		Doc: "A key that another session has taken since stays with that one.", Errors: []int{http.StatusNotFound},
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
		return openapi.Refuse(http.StatusForbidden, "scope", "the token %q may only %s everybody's sessions; to destroy them needs admin", v.Token, v.Scope)
	}
	return nil
}

// purge destroys a session, and what is kept of it outside the store.
func (a *service) purge(ctx context.Context, id skein.SessionID, rule skein.ChildRule) (removal, error) {
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
