package memory

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
)

// Tombstones implements [erase.Tombstones].
func (s lifecycle) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return func(yield func(erase.Tombstone, error) bool) {
		if err := s.enter(ctx); err != nil {
			skein.Wrapf(&err, "memory: tombstones")
			yield(erase.Tombstone{}, err)
			return
		}
		tombs := maps.Clone(s.tombs)
		s.mu.Unlock()
		byHash := func(a, b tombstone) int {
			return cmp.Or(bytes.Compare(a.tomb[:], b.tomb[:]), cmp.Compare(a.user, b.user))
		}
		for _, g := range slices.SortedFunc(maps.Keys(tombs), byHash) {
			if s.sees(g.user) && !yield(erase.Tombstone{User: g.user, Hash: g.tomb, At: tombs[g]}, nil) {
				return
			}
		}
	}
}

// PutTombstones implements [erase.Tombstones].
func (s lifecycle) PutTombstones(ctx context.Context, stones ...erase.Tombstone) (err error) {
	defer skein.Wrapf(&err, "memory: bury")
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, t := range stones {
		if s.user != "" || t.User == "" {
			t.User = s.owner()
		}
		s.putTombstone(t.User, t.Hash, t.At)
	}
	return nil
}

// putTombstone adds a tombstone, unless it exists.
func (d *data) putTombstone(u skein.User, t ledger.Tomb, at skein.Time) {
	if g := (tombstone{u, t}); d.tombs[g] == 0 {
		d.tombs[g] = max(1, at)
	}
}
