package memory

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
)

// Tombstones implements [skein.Burier].
func (s *Store) Tombstones(ctx context.Context) iter.Seq2[skein.Tombstone, error] {
	return func(yield func(skein.Tombstone, error) bool) {
		if err := s.enter(ctx); err != nil {
			skein.Wrapf(&err, "memory: tombstones")
			yield(skein.Tombstone{}, err)
			return
		}
		tombs := maps.Clone(s.tombs)
		s.mu.Unlock()
		for _, t := range slices.SortedFunc(maps.Keys(tombs), func(a, b tomb) int { return bytes.Compare(a[:], b[:]) }) {
			if !yield(skein.Tombstone{Hash: t, At: tombs[t]}, nil) {
				return
			}
		}
	}
}

// Bury implements [skein.Burier].
func (s *Store) Bury(ctx context.Context, stones ...skein.Tombstone) (err error) {
	defer skein.Wrapf(&err, "memory: bury")
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, t := range stones {
		if s.tombs[t.Hash] == 0 {
			s.tombs[t.Hash] = max(1, t.At)
		}
	}
	return nil
}
