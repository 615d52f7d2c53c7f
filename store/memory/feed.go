package memory

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/stream"
)

// Feed implements [skein.Feed]. It scans all events at each step: it is simple, not
// fast.
func (s feeds) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		at, err := stream.Place(after)
		if err != nil {
			skein.Wrapf(&err, "memory: feed")
			yield(skein.Fed{}, err)
			return
		}
		for ctx.Err() == nil {
			news, changed, err := s.fedAfter(ctx, at)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				skein.Wrapf(&err, "memory: feed")
				yield(skein.Fed{}, err)
				return
			}
			for _, n := range news {
				at = int64(n.order)
				if !yield(n.Fed, nil) {
					return
				}
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

type fed struct {
	order int
	skein.Fed
}

// fedAfter returns the events that were stored after a position, and a channel
// that is closed when there are others.
func (s feeds) fedAfter(ctx context.Context, at int64) (all []fed, changed <-chan struct{}, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, nil, err
	}
	defer s.mu.Unlock()
	if at < 0 {
		return []fed{{s.order, skein.Fed{Cursor: stream.Cursor(int64(s.order))}}}, s.changed, nil
	}
	for _, sess := range s.sessions {
		if !s.sees(sess.head.User) {
			continue
		}
		for _, e := range sess.own {
			if int64(e.order) > at {
				all = append(all, fed{e.order, skein.Fed{Cursor: stream.Cursor(int64(e.order)), Session: sess.head.ID, User: sess.head.User, Event: e.Event}})
			}
		}
	}
	slices.SortFunc(all, func(a, b fed) int { return cmp.Compare(a.order, b.order) })
	return all, s.changed, nil
}
