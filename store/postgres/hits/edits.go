package hits

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/search"
)

// editsPage is how many messages are read at a time. They are read whole.
const editsPage = 8

// Edits passes to yield the messages that s sees whose calls have any of these keys and
// that a search with [skein.Query].Rewound would find, the newest first, each with its
// event; not those that are damaged. It stops when yield returns false. The error is that
// of the database.
func Edits(ctx context.Context, s wire.Principal, keys []edits.IndexKey, yield func(skein.Hit) bool) error {
	x := Searcher{searchScope: searchScope{q: skein.Query{Rewound: true, Whole: true}}, s: s}
	if none, err := x.conditions(ctx, s, nil); err != nil || none {
		return err
	}
	var err error
	if x.matcher, err = search.NewMatcher(x.q); err != nil {
		return err
	}
	var list []int32
	for _, k := range edits.Asked(keys) {
		list = append(list, int32(k))
	}
	var found []hit
	err = s.Ask(ctx, `WITH c AS MATERIALIZED (SELECT user_id, n, seq, at, amends FROM edited($1, $2))
		SELECT e.user_id, e.n, e.seq, s.n FROM c e`+x.joins()+` ORDER BY e.at DESC, e.n DESC, e.seq DESC`, []any{x.who, list}, func(r wire.Row) error {
		var h hit
		err := r.Scan(&h.at.user, &h.at.n, &h.at.seq, &h.session)
		found = append(found, h)
		return err
	})
	if err != nil {
		return err
	}
	for page := range slices.Chunk(found, editsPage) {
		x.hits = page
		r, err := x.results(ctx)
		if err != nil {
			return err
		}
		for i := range r.Hits {
			if r.Hits[i].Event != nil && !yield(r.Hits[i]) {
				return nil
			}
		}
	}
	return nil
}
