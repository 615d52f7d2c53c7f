package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/ranking"
)

// costs are what sessions cost, the dearest first.
type costs []price.Sum

// costSteps are the limits of the facet of costs, in dollars.
func costSteps() []string { return []string{"10", "5", "1", "0.25"} }

// costly is up to how many sessions what each cost is added up for a facet.
const costly = 20_000

// costsOf adds up what each of these sessions cost, or, if none is given, each session.
func (s lists) costsOf(ctx context.Context, ids []skein.SessionID) (costs, error) {
	if s.Prices == nil {
		return nil, nil
	}
	table, err := s.Prices()
	if err != nil {
		return nil, err
	}
	rows, err := door.From(ctx).Store.Usage(ctx, skein.UsageQuery{By: skein.BySession, Sessions: ids})
	all := table.Sums(rows, skein.BySession)
	slices.SortFunc(all, func(a, b price.Sum) int { return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Of, b.Of)) })
	return all, err
}

// least returns the IDs of the sessions that cost at least this many dollars.
func (c costs) least(dollars string) (ids []skein.SessionID, err error) {
	least, err := strconv.ParseFloat(dollars, 64)
	if err != nil {
		return nil, fmt.Errorf("cost=%q: %w: want dollars", dollars, skein.ErrInvalid)
	}
	for _, one := range c {
		if float64(one.Cost) < least*1e9 {
			break
		}
		ids = append(ids, skein.SessionID(one.Of))
	}
	if ids == nil {
		ids = []skein.SessionID{""} // none
	}
	return ids, nil
}

// costLimit limits f to the sessions that cost what the page's filter says.
func (s lists) costLimit(ctx context.Context, p *sessionsPage, f *skein.Filter) (sums costs, err error) {
	if p.Has("cost") == "" && p.Sort() != ranking.Dearest {
		return nil, nil
	}
	if sums, err = s.costsOf(ctx, nil); err == nil && p.Has("cost") != "" {
		f.IDs, err = sums.least(p.Has("cost"))
	}
	return sums, err
}

// costFacet counts the sessions of f by what they cost, unless there are very many. sums
// are what all sessions cost, if that is known.
func (s lists) costFacet(ctx context.Context, f skein.Filter, p *sessionsPage, sums costs) (facet listFacet, err error) {
	if s.Prices == nil || p.Total > costly {
		return facet, nil
	}
	f.IDs = nil // not those of the chosen cost
	var ids []skein.SessionID
	of := map[string]bool{}
	for one, err := range s.store(ctx).Sessions(ctx, f) {
		if err != nil {
			return facet, err
		}
		if of[string(one.ID)] = true; len(of) > costly {
			return facet, nil
		}
		ids = append(ids, one.ID)
	}
	if sums == nil && ids != nil {
		if sums, err = s.costsOf(ctx, ids); err != nil {
			return facet, err
		}
	}
	facet = listFacet{Name: "cost", Title: "Cost"}
	for _, step := range costSteps() {
		dear, err := sums.least(step)
		if err != nil {
			return facet, err
		}
		v := listValue{Name: "$" + step + " or more", Value: step}
		for _, id := range dear {
			if of[string(id)] {
				v.Count++
			}
		}
		p.offer("cost", &v, p.Has("cost") == step)
		facet.Values = append(facet.Values, v)
	}
	return facet, nil
}

// chunk is how many sessions of known IDs are read at once.
const chunk = 500

// dearest lists the sessions of f, those that cost the most first.
func (s lists) dearest(ctx context.Context, f skein.Filter, p *sessionsPage, sums costs, from string) error {
	skip := 0
	if from != "" { // the ID of the last session of the page before
		skip = 1 + slices.IndexFunc(sums, func(c price.Sum) bool { return c.Of == from })
	}
	var found []skein.Session
	for at := skip; at < len(sums) && len(found) <= pageSize; at += chunk {
		g := f
		g.IDs = nil
		for _, c := range sums[at:min(at+chunk, len(sums))] {
			if f.IDs == nil || slices.Contains(f.IDs, skein.SessionID(c.Of)) {
				g.IDs = append(g.IDs, skein.SessionID(c.Of))
			}
		}
		if g.IDs == nil {
			continue
		}
		some, err := s.found(ctx, g, p, chunk)
		if err != nil {
			return err
		}
		place := map[skein.SessionID]int{}
		for i, id := range g.IDs {
			place[id] = i
		}
		slices.SortFunc(some, func(a, b skein.Session) int { return cmp.Compare(place[a.ID], place[b.ID]) })
		found = append(found, some...)
	}
	return s.flat(ctx, p, found, func(last *skein.Session) string { return string(last.ID) })
}
