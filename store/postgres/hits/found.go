package hits

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/search"
)

// What a search has found so far.
type hitSet struct {
	hits    []hit
	seen    map[eventRef]bool
	limit   int
	each    bool // every hit counts for itself, not for its session
	one     bool // one session is searched, and all that it shows counts as its own
	cutOff  bool
	partial bool // the hits' counts are incomplete: the search stopped with enough hits
}

// An eventRef is the place of a row of events.
type eventRef struct {
	user string
	n    int64
	seq  skein.Seq
}

// A hit is an event that matches.
type hit struct {
	skein.Hit
	at      eventRef
	session int64  // number of the session that it counts as
	sure    bool   // it need not be checked
	text    string // if it is not in the index
}

// take adds a hit of a scan. The error is [wire.ErrStop] if there are enough.
func (x *hitSet) take(h hit) error {
	if x.seen[h.at] {
		return nil
	}
	if !x.each {
		for i := range x.hits {
			if x.group(&x.hits[i]) == x.group(&h) {
				x.seen[h.at] = true
				x.hits[i].Count++
				return nil
			}
		}
	}
	if len(x.hits) == x.limit {
		x.partial = true
		return wire.ErrStop
	}
	x.seen[h.at] = true
	h.Count = 1
	x.hits = append(x.hits, h)
	return nil
}

// merge puts the fresh hits among the ranked ones that x has.
func (x *hitSet) merge(fresh []hit) {
	all := search.Merge(fresh, x.hits, asHit)
	if !x.each {
		all = search.FirstOfEach(all, x.group, asHit)
	}
	x.hits = all[:min(len(all), x.limit)]
}

func asHit(h *hit) *skein.Hit { return &h.Hit }

// group returns the session that h is grouped under; 0 if only one session is
// searched.
func (x *hitSet) group(h *hit) int64 {
	if x.one {
		return 0
	}
	return h.session
}
