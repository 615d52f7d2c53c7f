package sqlite

import (
	"context"
	"iter"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/hits"
)

// catchUpFor is how long a search waits for the index.
const catchUpFor = 100 * time.Millisecond

// Search implements [skein.Store].
func (s *searches) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "sqlite: search")
	leave, err := s.enter()
	if err != nil {
		return r, err
	}
	defer leave()
	x, err := hits.New(s.searchView(), q)
	if err != nil || search.Empty(&q) {
		return r, err
	}
	if x.Indexed() {
		s.catchUp(ctx, ofWords(), catchUpFor)
	}
	return x.Run(ctx, s.readers)
}

// Edits implements [edits.Index].
func (s *searches) Edits(ctx context.Context, keys []edits.IndexKey) iter.Seq2[skein.Hit, error] {
	return func(yield func(skein.Hit, error) bool) {
		err := s.edited(ctx, keys, func(h skein.Hit) bool { return yield(h, nil) })
		if skein.Wrapf(&err, "sqlite: edits"); err != nil {
			yield(skein.Hit{}, err)
		}
	}
}

func (s *searches) edited(ctx context.Context, keys []edits.IndexKey, yield func(skein.Hit) bool) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	s.catchUp(ctx, ofEdits(), catchUpFor)
	if s.behind(ctx, ofEdits()) {
		return edits.ErrBehind
	}
	return hits.Edits(ctx, s.readers, s.searchView(), keys, yield)
}

// searchView returns what a search needs to know of the view.
func (s *view) searchView() hits.View { return hits.View{User: s.user, Pack: s.pack, Head: s.head} }
