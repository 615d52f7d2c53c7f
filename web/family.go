package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// maxFamily is how many sessions a tree shows at most.
const maxFamily = 500

// kin is a session of a family, and those that hang on it.
type kin struct {
	skein.Session
	Asked    bool // the one that the page is about
	Children []*kin
}

// About says what k is to the one above it.
func (k *kin) About() string {
	var about []string
	if p := k.Parent; p != nil {
		switch p.Why {
		case skein.Fork:
			about = append(about, fmt.Sprintf("fork at %d", p.Seq))
		case skein.Child:
			about = append(about, "sub-agent")
		case skein.Continuation:
			about = append(about, "continuation")
		}
	}
	about = append(about, plural(k.Turns, "turn"))
	if k.Binned != 0 {
		about = append(about, "in the bin")
	}
	return strings.Join(about, " · ")
}

// relatives finds a family.
type relatives struct {
	ctx   context.Context //nolint:containedctx // it ends with the search, which is one call
	store skein.Store
	asked skein.SessionID
	seen  map[skein.SessionID]bool
	more  bool // there are others than are shown
}

// root returns the oldest ancestor of s that is there, with all that hangs on
// it.
func (f *relatives) root(s skein.Session) (*kin, error) {
	f.asked, f.seen = s.ID, map[skein.SessionID]bool{}
	for s.Parent != nil && !f.seen[s.ID] {
		f.seen[s.ID] = true
		up, err := f.store.Session(f.ctx, s.Parent.Session)
		if errors.Is(err, skein.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		s = up
	}
	clear(f.seen)
	return f.of(s)
}

func (f *relatives) of(s skein.Session) (*kin, error) {
	k := &kin{Session: s, Asked: s.ID == f.asked}
	f.seen[s.ID] = true
	below, err := f.below(s.ID)
	if err != nil {
		return nil, err
	}
	for _, b := range below {
		if f.seen[b.ID] {
			continue
		}
		if len(f.seen) >= maxFamily {
			f.more = true
			break
		}
		child, err := f.of(b)
		if err != nil {
			return nil, err
		}
		k.Children = append(k.Children, child)
	}
	return k, nil
}

// below returns what hangs on a session itself, in the order of where.
func (f *relatives) below(id skein.SessionID) (all []skein.Session, err error) {
	for _, bin := range []bool{false, true} {
		for s, err := range f.store.Sessions(f.ctx, skein.Filter{Parent: id, IncludeEmpty: true, Bin: bin, Limit: maxFamily + 1}) {
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b skein.Session) int {
		return cmp.Or(cmp.Compare(a.Parent.Seq, b.Parent.Seq), cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}
