package mcp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

type nameIn struct {
	Session string `json:"session" jsonschema:"its ID, the beginning or end of it, its key, or a part of its title"`
}

// maxFamily is how many sessions of a family are shown.
const maxFamily = 300

// A kinLine is a session of a family, after those that it came from.
type kinLine struct {
	sessionLine
	Depth  int             `json:"depth"`
	Parent skein.SessionID `json:"parent,omitempty"`
	Why    skein.Why       `json:"why,omitempty"`
	Seq    skein.Seq       `json:"seq,omitempty"` // of the parent's event that it hangs on
	Asked  bool            `json:"asked,omitempty"`
	Binned bool            `json:"binned,omitempty"`
}

func (s *service) tree(ctx context.Context, in nameIn) (*sdk.CallToolResult, error) {
	x, err := s.session(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	top, err := s.ancestor(ctx, x)
	if err != nil {
		return nil, err
	}
	f := family{service: s, ctx: ctx, asked: x.ID, seen: map[skein.SessionID]bool{}, page: &page{service: s}}
	if err := f.add(top, 0); err != nil {
		return nil, err
	}
	if f.more {
		return f.page.answer("The family is larger than is shown."), nil
	}
	return f.page.answer(end), nil
}

// ancestor returns the one that x came from in the end, of those that are there.
func (s *service) ancestor(ctx context.Context, x skein.Session) (skein.Session, error) {
	for seen := map[skein.SessionID]bool{}; x.Parent != nil && !seen[x.ID]; {
		seen[x.ID] = true
		up, err := s.store.Session(ctx, x.Parent.Session)
		if errors.Is(err, skein.ErrNotFound) {
			break
		}
		if err != nil {
			return x, err
		}
		x = up
	}
	return x, nil
}

type family struct {
	*service
	ctx   context.Context
	asked skein.SessionID
	seen  map[skein.SessionID]bool
	page  *page
	more  bool
}

// add adds x and all that hangs on it.
func (f *family) add(x skein.Session, depth int) error {
	l := kinLine{sessionLine: f.line(&x), Depth: depth, Asked: x.ID == f.asked, Binned: x.Binned != 0}
	if x.Parent != nil {
		l.Parent, l.Why, l.Seq = x.Parent.Session, x.Parent.Why, x.Parent.Seq
	}
	if f.more = f.more || len(f.seen) == maxFamily || !f.page.add(l); f.more {
		return nil
	}
	f.seen[x.ID] = true
	below, err := f.below(x.ID)
	if err != nil {
		return err
	}
	for _, b := range below {
		if !f.seen[b.ID] {
			if err := f.add(b, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// below returns what hangs on a session, by where.
func (f *family) below(id skein.SessionID) (all []skein.Session, err error) {
	for _, bin := range []bool{false, true} {
		for b, err := range f.store.Sessions(f.ctx, skein.Filter{Parent: id, IncludeEmpty: true, Bin: bin, Limit: maxFamily}) {
			if err != nil {
				return nil, err
			}
			all = append(all, b)
		}
	}
	slices.SortStableFunc(all, func(a, b skein.Session) int {
		return cmp.Or(cmp.Compare(a.Parent.Seq, b.Parent.Seq), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}
