package cli

import (
	"context"
	"iter"
	"sort"

	"github.com/skein-dev/skein"
)

// A reader reads a session in pieces, so that a session of a million messages needs
// no more memory than a short one.
type reader struct {
	ctx     context.Context
	store   skein.Store
	session skein.Session
}

// window is how many events are read at once.
const window = 500

// entries yields the messages that begin after the given seq, in order.
func (r reader) entries(after skein.Seq) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		for ; after < r.session.Last; after += window {
			found, err := r.store.Newest(r.ctx, r.session.ID, window, after+window+1)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for _, e := range found {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// last yields the newest n messages, after leaving out the newest skip ones.
func (r reader) last(n, skip int) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		found, err := r.store.Newest(r.ctx, r.session.ID, n+skip, 0)
		if err != nil {
			yield(skein.Entry{}, err)
			return
		}
		for _, e := range found[:max(len(found)-skip, 0)] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// turn yields the messages of turn n.
func (r reader) turn(n int) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		first, err := r.begin(n)
		if err != nil {
			yield(skein.Entry{}, err)
			return
		}
		for e, err := range r.entries(first - 1) {
			if err == nil && e.Turn > n || !yield(e, err) {
				return
			}
		}
	}
}

// begin returns the seq at which turn n begins, or the one after the session's end
// if it has no such turn. Turn numbers never decrease, so it uses binary search.
func (r reader) begin(n int) (at skein.Seq, err error) {
	i := sort.Search(int(r.session.Last), func(i int) bool {
		if err != nil {
			return true
		}
		found, lookErr := r.store.Newest(r.ctx, r.session.ID, 1, skein.Seq(i+2))
		err = lookErr
		return len(found) > 0 && found[0].Turn >= n
	})
	return skein.Seq(i + 1), err
}
