package lookup

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
)

// A Kin is a session of a family with its direct descendants: its forks, children
// and continuations, by the seq where they start, then the older first.
type Kin struct {
	skein.Session
	Children []*Kin
}

// Family returns the oldest existing ancestor of session id with all its
// descendants, in the bin or not, but at most most sessions; more reports that there
// are others. If most is below 1, there is no limit.
//
// The error wraps [ErrNotFound] if session id does not exist.
func Family(ctx context.Context, st skein.Store, id skein.SessionID, most int) (root *Kin, more bool, err error) {
	s, err := ancestor(ctx, st, id)
	if err != nil {
		return nil, false, err
	}
	f := family{store: st, most: max(0, most), seen: map[skein.SessionID]bool{}}
	root, err = f.of(ctx, s)
	return root, f.more, err
}

// ancestor follows the parents of session id up to a session without a parent, or
// whose parent is gone or another user's.
func ancestor(ctx context.Context, st skein.Store, id skein.SessionID) (skein.Session, error) {
	s, err := st.Session(ctx, id)
	for seen := map[skein.SessionID]bool{}; err == nil && s.Parent != nil && !seen[s.ID]; {
		seen[s.ID] = true
		up, err := st.Session(ctx, s.Parent.Session)
		if errors.Is(err, skein.ErrNotFound) || err == nil && up.User != s.User {
			break
		}
		if err != nil {
			return s, err
		}
		s = up
	}
	return s, err
}

// A family is what Family has found so far.
type family struct {
	store skein.Store
	most  int // 0 for no limit
	seen  map[skein.SessionID]bool
	more  bool
}

// of returns s with all its descendants.
func (f *family) of(ctx context.Context, s skein.Session) (*Kin, error) {
	k := &Kin{Session: s}
	f.seen[s.ID] = true
	below, err := f.below(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	for _, b := range below {
		if f.seen[b.ID] {
			continue
		}
		if f.most > 0 && len(f.seen) >= f.most {
			f.more = true
			break
		}
		child, err := f.of(ctx, b)
		if err != nil {
			return nil, err
		}
		k.Children = append(k.Children, child)
	}
	return k, nil
}

// below returns the direct descendants of a session.
func (f *family) below(ctx context.Context, id skein.SessionID) (all []skein.Session, err error) {
	q := skein.Filter{Parent: id, IncludeEmpty: true}
	if f.most > 0 {
		q.Limit = f.most + 1
	}
	for _, q.Bin = range []bool{false, true} {
		for s, err := range f.store.Sessions(ctx, q) {
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
