package sqlite

import (
	"context"
	"time"

	"github.com/skein-dev/skein"
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
		s.catchUp(ctx, catchUpFor)
	}
	return x.Run(ctx, s.readers)
}

// searchView returns what a search needs to know of the view.
func (s *view) searchView() hits.View { return hits.View{User: s.user, Pack: s.pack, Head: s.head} }
