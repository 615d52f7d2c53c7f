package lookup

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
)

// atOnce is how many sessions one query of ByID names at most.
const atOnce = 500

// ByID returns the sessions with these IDs, also those in the bin, in few queries.
// Sessions that do not exist are left out.
//
// The errors are the store's.
func ByID(ctx context.Context, store skein.Store, ids []skein.SessionID) (map[skein.SessionID]skein.Session, error) {
	found := make(map[skein.SessionID]skein.Session, len(ids))
	ids = slices.Clone(ids)
	slices.Sort(ids)
	for some := range slices.Chunk(slices.Compact(ids), atOnce) {
		for _, bin := range []bool{false, true} {
			for s, err := range store.Sessions(ctx, skein.Filter{IDs: some, Bin: bin, IncludeEmpty: true}) {
				if err != nil {
					return nil, err
				}
				found[s.ID] = s
			}
			some = slices.DeleteFunc(slices.Clone(some), func(id skein.SessionID) bool { _, ok := found[id]; return ok })
			if len(some) == 0 {
				break
			}
		}
	}
	return found, nil
}

// OfHits returns the sessions that hits are in, as [ByID] does.
//
// The errors are the store's.
func OfHits(ctx context.Context, store skein.Store, hits []skein.Hit) (map[skein.SessionID]skein.Session, error) {
	ids := make([]skein.SessionID, len(hits))
	for i := range hits {
		ids[i] = hits[i].Session
	}
	return ByID(ctx, store, ids)
}
