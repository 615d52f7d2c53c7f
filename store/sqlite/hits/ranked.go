package hits

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// ranked finds matches in the index, best first, then those that wait for the index
// and those of long texts.
func (x *Searcher) ranked(c *engine.Conn, expr string) error {
	unranked, err := x.fresh(c)
	if err != nil {
		return err
	}
	late := x.cutOff
	x.allow(c.Context())
	long := longSearch{x}
	if err = long.find(c); err == nil {
		unranked, late = append(unranked, x.hits...), x.cutOff
		x.hits = nil
		x.allow(c.Context())
		err = x.best(c, expr)
	}
	if engine.Code(err)&0xff == engine.CodeCorrupt {
		x.hits = nil
		return x.scan(c, 0) // the index is damaged, but not the texts that it is built from
	}
	x.cutOff = x.cutOff || late
	x.join(unranked)
	return err
}

// fresh returns the matches among the events that are not indexed yet.
func (x *Searcher) fresh(c *engine.Conn) ([]hit, error) {
	var upto int64
	if _, err := c.One(`SELECT upto FROM indexed`, nil, &upto); err != nil {
		return nil, err
	}
	err := x.scan(c, upto)
	fresh := x.hits
	x.hits = nil
	return fresh, err
}

// best finds the best rows by rank: the best one of each session, unless each
// match is asked for. If a word is so frequent that ranking all matches takes
// too long, it finds the best of the newest.
func (x *Searcher) best(c *engine.Conn, expr string) (err error) {
	ids, in, more, err := x.newest(c, expr)
	if err != nil || len(ids) == 0 {
		return err
	}
	if x.cutOff = more; more && x.ofSome() {
		return ownSearch{x}.recent(c, expr, ids)
	}
	return x.rankFirst(c, expr, ids, in)
}

// checked returns those hits that really match, if the index finds more than
// was asked for.
func (x *Searcher) checked(c *engine.Conn, hits []hit) (sure []hit, err error) {
	ps := prefixes(x.q.Terms)
	if len(ps) == 0 {
		return hits, nil
	}
	m, err := search.NewMatcher(skein.Query{Terms: ps})
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		var text string
		if _, err := c.One(`SELECT coalesce(text, '') FROM events WHERE id = ?`, []any{h.id}, &text); err != nil {
			return nil, err
		}
		if m.MatchesText(text) {
			sure = append(sure, h)
		}
	}
	return sure, nil
}

// join inserts the hits without a score among the ranked ones: they come before those
// with a score below the mean.
func (x *Searcher) join(unranked []hit) {
	if len(unranked) == 0 {
		return
	}
	all := search.Merge(unranked, x.hits, asHit)
	if x.q.Newest {
		slices.SortStableFunc(all, func(a, b hit) int { return cmp.Compare(b.id, a.id) })
	}
	if !x.q.Each {
		all = firstOfEach(all)
	}
	x.hits = all[:min(len(all), x.limit)]
}

// firstOfEach returns the first hit of each session, with the counts of all of
// that session's hits.
func firstOfEach(hits []hit) []hit {
	return search.FirstOfEach(hits, func(h *hit) int64 { return h.session }, asHit)
}

func asHit(h *hit) *skein.Hit { return &h.Hit }

const recentMatches = 2000 // the most matches of some sessions to take, if all sessions' matches are too many to rank
