package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lookup"
)

// where is a place in a session, given as a seq or as a turn.
type where struct {
	seq  *int64 // the last event to keep
	turn *int64 // keep up to the end of this turn; -1 is the last one, -2 the one before
}

// place returns the seq in s that w stands for.
func (w *where) place(ctx context.Context, store skein.Store, s *skein.Session, least skein.Seq) (skein.Seq, error) {
	switch {
	case (w.seq == nil) == (w.turn == nil):
		return 0, fmt.Errorf("%w: want seq or turn, one of them", skein.ErrInvalid)
	case w.turn != nil:
		_, end, err := turnOf(ctx, store, s, *w.turn)
		return end, err
	}
	at := skein.Seq(*w.seq)
	if at < least || at > s.Last {
		return 0, fmt.Errorf("%w seq %d: session %s has the events 1 to %d", skein.ErrInvalid, at, s.ID, s.Last)
	}
	return at, nil
}

// turnOf returns the first and the last seq of turn n of s.
func turnOf(ctx context.Context, store skein.Store, s *skein.Session, n int64) (first, last skein.Seq, err error) {
	if n < 0 {
		n += int64(s.Ever().Turns) + 1
	}
	if n < 1 || n > int64(s.Ever().Turns) {
		return 0, 0, fmt.Errorf("%w turn %d: session %s has %d", skein.ErrInvalid, n, s.ID, s.Ever().Turns)
	}
	first, err = beginOf(ctx, store, s, int(n))
	if err != nil {
		return 0, 0, err
	}
	last, err = beginOf(ctx, store, s, int(n)+1)
	return first, last - 1, err
}

// beginOf returns the seq with which turn n of s begins; after the last turn,
// the seq after the session's end. It reads only a few pages, wherever the turn
// is: turn numbers grow with the seqs.
func beginOf(ctx context.Context, store skein.Store, s *skein.Session, n int) (skein.Seq, error) {
	low, high := skein.Seq(1), s.Last+1 // the answer is in this range, both ends included
	share := room.Of(ctx)
	was := share.Used()
	defer func() { share.Give(share.Used() - was) }()
	for low < high {
		mid := low + (high-low)/2
		found, err := store.Newest(ctx, s.ID, 1, mid+1)
		if err != nil {
			return 0, err
		}
		if len(found) > 0 && found[0].Turn >= n {
			high = min(mid, found[0].Seq)
			continue
		}
		low = mid + 1
	}
	return low, nil
}

// newFork is the body of POST /v1/sessions/{id}/fork.
type newFork struct {
	Seq   *int64          `json:"seq,omitempty" doc:"show the events up to this seq"`
	Turn  *int64          `json:"turn,omitempty" doc:"show everything up to the end of this turn; -1 is the last turn"`
	ID    skein.SessionID `json:"id,omitempty"`
	Title string          `json:"title,omitempty"`
}

type forked struct {
	ID     skein.SessionID `json:"id"`
	Parent skein.SessionID `json:"parent"`
	Seq    skein.Seq       `json:"seq" doc:"seq of the last event of the parent that the fork shows"`
}

// branches registers fork and rewind.
func (a sessionOps) branches(t *openapi.Table) {
	type in struct {
		Once
		ID   skein.SessionID `path:"id"`
		Body newFork
	}
	type out struct {
		Location string `header:"Location"`
		Body     forked
	}
	openapi.Register(t, openapi.Operation{
		ID: "fork-session", Method: http.MethodPost, Path: "/sessions/{id}/fork", Tag: "sessions", Scope: door.Write, Status: http.StatusCreated, Body: door.MaxBody, Summary: "Begin a session with the first part of another",
		Doc:    "Nothing is copied, and the other session does not change, whatever happens to the fork.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, i *in) (*out, error) {
		store := legible(ctx)
		s, err := store.Session(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		at, err := (&where{i.Body.Seq, i.Body.Turn}).place(ctx, store, &s, 1)
		if err != nil {
			return nil, err
		}
		fork, err := a.begin(ctx, i.Body.ID, skein.Created{
			Title: i.Body.Title, User: s.User, Surface: "api", Program: "skein serve", Version: a.Version,
			Profile: s.Profile, Provider: s.Provider, Project: s.Project, Cwd: s.Cwd, Checkout: s.Checkout.Known(),
			Parent: &skein.Parent{Session: s.ID, Seq: at, Why: skein.Fork},
		}, i.Once, []any{i.ID, i.Body})
		if err != nil {
			return nil, err
		}
		return &out{"/v1/sessions/" + string(fork.ID), forked{fork.ID, s.ID, fork.Base}}, nil
	})
	a.rewinds(t)
}

// rewinds registers rewind.
func (a sessionOps) rewinds(t *openapi.Table) {
	type rewind struct {
		Seq   *int64      `json:"seq,omitempty" doc:"rewind the context to what it was right after this event; 0 for an empty context"`
		Turn  *int64      `json:"turn,omitempty" doc:"rewind to the end of this turn; -2 takes back the last turn"`
		After skein.Seq   `json:"after,omitempty" doc:"the last seq that the writer saw; 409 if the session has newer events"`
		Fence skein.Fence `json:"fence,omitempty" doc:"fencing number of the writer's lease"`
	}
	type in struct {
		Once
		ID   skein.SessionID `path:"id"`
		Body rewind
	}
	type rewound struct {
		Seq skein.Seq `json:"seq" doc:"seq of the rewound event"`
		To  skein.Seq `json:"to"`
	}
	type out struct{ Body rewound }
	openapi.Register(t, openapi.Operation{
		ID: "rewind-session", Method: http.MethodPost, Path: "/sessions/{id}/rewind", Tag: "sessions", Scope: door.Write, Status: http.StatusCreated, Body: door.MaxBody, Summary: "Rewind a session",
		Doc:    "Appends a rewound event: the events in between stay stored, but are not in the context. A rewind to a later seq brings them back.",
		Errors: []int{http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity},
	}, func(ctx context.Context, i *in) (*out, error) {
		store := legible(ctx)
		s, err := store.Session(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		to, err := (&where{i.Body.Seq, i.Body.Turn}).place(ctx, store, &s, 0)
		if err != nil {
			return nil, err
		}
		begin, err := beginOf(ctx, store, &s, 1)
		if err != nil {
			return nil, err
		}
		events := s.Rewinding(skein.At(a.Now()), to, begin)
		e := &events[len(events)-1]
		e.ClientID = i.clientID(ctx)
		got, err := store.Append(ctx, skein.Batch{Session: s.ID, After: i.Body.After, Fence: i.Body.Fence, Events: events})
		if errors.Is(err, skein.ErrMismatch) && i.Body.Turn != nil {
			seq, to, err := rewoundBefore(ctx, store, &s, e.ClientID, *i.Body.Turn)
			return &out{rewound{seq, to}}, err
		}
		if err != nil {
			return nil, err
		}
		return &out{rewound{got[0].Seqs[len(events)-1], to}}, nil
	})
}

// rewoundBefore finds the rewind that was stored for the same key. The end of
// the turn may have moved since then.
func rewoundBefore(ctx context.Context, store skein.Store, s *skein.Session, id skein.ClientID, turn int64) (seq, to skein.Seq, err error) {
	first, last, err := turnOf(ctx, store, s, turn)
	if err != nil {
		return 0, 0, err
	}
	for e, err := range store.Events(ctx, s.ID, 0) {
		if err != nil {
			return 0, 0, err
		}
		if e.ClientID != id || e.Kind != skein.KindRewound {
			continue
		}
		r, err := skein.Decode[skein.Rewound](e)
		if err != nil {
			return 0, 0, err
		}
		if r.To >= first && r.To <= last {
			return e.Seq, r.To, nil
		}
	}
	return 0, 0, fmt.Errorf("session %s: %w", s.ID, skein.ErrMismatch)
}

// treeNode is a session of a family.
type treeNode struct {
	ID       skein.SessionID `json:"id"`
	Name     string          `json:"name"`
	Why      skein.Why       `json:"why,omitempty" doc:"relation to the session above it: fork, child or continuation"`
	Seq      skein.Seq       `json:"seq,omitempty" doc:"seq of the parent's event at which it began"`
	Created  skein.Time      `json:"created_at,omitzero"`
	Updated  skein.Time      `json:"updated_at,omitzero"`
	Turns    int             `json:"turns"`
	Messages int             `json:"messages"`
	Asked    bool            `json:"asked,omitempty" doc:"true for the session in the request"`
	Binned   bool            `json:"binned,omitempty"`
	Children []*treeNode     `json:"children,omitempty"`
}

// maxFamily is how many sessions a tree has at most.
const maxFamily = 10_000

// trees registers the route of a session's family.
func (a sessionOps) trees(t *openapi.Table) {
	type in struct {
		ID skein.SessionID `path:"id"`
	}
	type out struct{ Body *treeNode }
	openapi.Register(t, openapi.Operation{
		ID: "session-tree", Method: http.MethodGet, Path: "/sessions/{id}/tree", Tag: "sessions", Scope: door.Read, Summary: "A session's family: what it came from, its forks and children",
		Doc: "The tree begins with the oldest ancestor that exists, and includes sessions in the bin.", Errors: []int{http.StatusNotFound},
	}, func(ctx context.Context, i *in) (*out, error) {
		root, _, err := lookup.Family(ctx, door.From(ctx).Store, i.ID, maxFamily)
		if err != nil {
			return nil, err
		}
		return &out{a.nodeOf(root, i.ID)}, nil
	})
}

// nodeOf returns k with all its descendants; asked is marked.
func (a sessionOps) nodeOf(k *lookup.Kin, asked skein.SessionID) *treeNode {
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
