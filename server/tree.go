package server

import (
	"context"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lookup"
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

// trees registers the route of a session's family.
func (a *service) trees(t *openapi.Table) {
	type in struct {
		ID skein.SessionID `path:"id"`
	}
	type out struct{ Body *treeNode }
	openapi.Register(t, openapi.Operation{
		ID: "session-tree", Method: http.MethodGet, Path: "/sessions/{id}/tree", Tag: "sessions", Scope: door.Read, Summary: "What a session came from, its forks and children",
		Doc: "The whole family, from the oldest ancestor that is there; those in the bin too.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *in) (*out, error) {
		root, _, err := lookup.Family(ctx, door.From(ctx).Store, i.ID, maxFamily)
		if err != nil {
			return nil, err
		}
		return &out{a.nodeOf(root, i.ID)}, nil
	})
}

// nodeOf returns k with all its descendants; asked is marked.
func (a *service) nodeOf(k *lookup.Kin, asked skein.SessionID) *treeNode {
	s := a.veiledSession(k.Session)
	n := &treeNode{
		ID: k.ID, Name: s.Name(), Created: k.Created, Updated: k.Updated, Turns: k.Turns, Messages: k.Messages,
		Asked: k.ID == asked, Binned: k.Binned != 0,
	}
	if k.Parent != nil {
		n.Why, n.Seq = k.Parent.Why, k.Parent.Seq
	}
	for _, c := range k.Children {
		n.Children = append(n.Children, a.nodeOf(c, asked))
	}
	return n
}
