package hits

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// What tests compare with.
const (
	OwnPage       = ownPage
	RecentMatches = recentMatches
	AskQuery      = askQuery
	SpansQuery    = spansQuery
	IDsQuery      = idsQuery
)

// Unranked is what a search finds without a rank.
type Unranked struct {
	Hits   []skein.Hit
	CutOff bool
	Looked int // places of the index
}

// Unranked runs a search that may look at only one place of the index before it
// turns to the ranges of the events that it searches.
func (x *Searcher) Unranked(c *engine.Conn, limit int) (r Unranked, err error) {
	x.limit = limit
	if none, err := x.conditions(c); none || err != nil {
		return r, fmt.Errorf("nothing to search: %v, %w", none, err)
	}
	x.allow(c.Context())
	x.budget.Spend(x.q.Deadline)
	err = x.best(c, x.expr)
	for _, h := range x.hits {
		r.Hits = append(r.Hits, h.Hit)
	}
	r.CutOff, r.Looked = x.cutOff, x.looked
	return r, err
}
