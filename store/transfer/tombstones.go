package transfer

import (
	"context"
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

// A tombstoneKey names a tombstone of a user of the second store.
type tombstoneKey struct {
	user skein.User
	hash [sha256.Size]byte
}

// tombstones copies the tombstones of the first store.
func (c *copyRun) tombstones(ctx context.Context) error {
	from, ok := skein.PartOf[erase.Tombstones](c.raw)
	to, ok2 := skein.PartOf[erase.Tombstones](c.to)
	if !ok || !ok2 {
		return nil
	}
	var stones []erase.Tombstone
	for s, err := range from.Tombstones(ctx) {
		if err != nil {
			return err
		}
		s.User = c.whose(s.User)
		c.stones[tombstoneKey{s.User, s.Hash}] = true
		stones = append(stones, s)
		if len(stones) >= maxEvents {
			if err := to.PutTombstones(ctx, stones...); err != nil {
				return err
			}
			stones = nil
		}
	}
	return to.PutTombstones(ctx, stones...)
}
