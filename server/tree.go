package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
)

// treeNode is a session of a family.
type treeNode struct {
	ID       skein.SessionID `json:"id"`
	Name     string          `json:"name"`
	Why      skein.Why       `json:"why,omitempty" doc:"what it is to the one above it: fork, child or continuation"`
	Seq      skein.Seq       `json:"seq,omitempty" doc:"of the parent's event that it hangs on"`
	Created  skein.Time      `json:"created_at,omitzero"`
	Updated  skein.Time      `json:"updated_at,omitzero"`
	Turns    int             `json:"turns"`
	Messages int             `json:"messages"`
	Asked    bool            `json:"asked,omitempty" doc:"it is the one that was asked for"`
	Binned   bool            `json:"binned,omitempty"`
	Children []*treeNode     `json:"children,omitempty"`
}

// maxFamily is how many sessions a tree has at most.
const maxFamily = 10_000

// trees registers the family of a session.
func (a *service) trees(t *table) {
	type in struct {
		ID skein.SessionID `path:"id"`
	}
	type out struct{ Body *treeNode }
	register(t, operation{
		ID: "session-tree", Method: http.MethodGet, Path: "/sessions/{id}/tree", Tag: "sessions", Scope: door.Read, Summary: "What a session came from, its forks and children",
		Doc: "The whole family, from the oldest ancestor that is there; those in the bin too.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *in) (*out, error) {
		store := door.From(ctx).Store
		s, err := store.Session(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		top, err := ancestor(ctx, store, s)
		if err != nil {
			return nil, err
		}
		f := family{ctx: ctx, store: store, asked: s.ID, seen: map[skein.SessionID]bool{}}
		root, err := f.of(top)
		return &out{root}, err
	})
}

// ancestor follows the parents of s up to the one that has none, or whose
// parent is gone.
func ancestor(ctx context.Context, store skein.Store, s skein.Session) (skein.Session, error) {
	seen := map[skein.SessionID]bool{}
	for s.Parent != nil && !seen[s.ID] {
		seen[s.ID] = true
		up, err := store.Session(ctx, s.Parent.Session)
		if errors.Is(err, skein.ErrNotFound) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		s = up
	}
	return s, nil
}

type family struct {
	ctx   context.Context
	store skein.Store
	asked skein.SessionID
	seen  map[skein.SessionID]bool
}

// of returns s with all that hangs on it.
func (f *family) of(s skein.Session) (*treeNode, error) {
	n := &treeNode{
		ID: s.ID, Name: s.Name(), Created: s.Created, Updated: s.Updated, Turns: s.Turns, Messages: s.Messages,
		Asked: s.ID == f.asked, Binned: s.Binned != 0,
	}
	if s.Parent != nil {
		n.Why, n.Seq = s.Parent.Why, s.Parent.Seq
	}
	f.seen[s.ID] = true
	var below []skein.Session
	for _, bin := range []bool{false, true} {
		for b, err := range f.store.Sessions(f.ctx, skein.Filter{Parent: s.ID, IncludeEmpty: true, Bin: bin}) {
			if err != nil {
				return nil, err
			}
			below = append(below, b)
		}
	}
	slices.SortStableFunc(below, func(a, b skein.Session) int {
		return cmp.Or(cmp.Compare(a.Parent.Seq, b.Parent.Seq), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	for _, b := range below {
		if f.seen[b.ID] || len(f.seen) >= maxFamily {
			continue
		}
		child, err := f.of(b)
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, child)
	}
	return n, nil
}
