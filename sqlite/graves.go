package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"iter"

	"github.com/skein-dev/skein"
)

var _ skein.Burier = (*Store)(nil)

// Tombstones implements [skein.Burier].
func (s *Store) Tombstones(ctx context.Context) iter.Seq2[skein.Tombstone, error] {
	return func(yield func(skein.Tombstone, error) bool) {
		err := s.write(ctx, func(t *tx) error { return t.bury() })
		for last := []byte{}; ; {
			var page []skein.Tombstone
			if err == nil {
				page, err = s.tombPage(ctx, last)
			}
			if err != nil {
				skein.Wrapf(&err, "sqlite: tombstones")
				yield(skein.Tombstone{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
				last = t.Hash[:]
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// tombPage returns the next tombstones after the one with the hash last.
func (s *Store) tombPage(ctx context.Context, last []byte) (page []skein.Tombstone, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT hash, at FROM tombstones WHERE hash > ? ORDER BY hash LIMIT 500`, []any{last}, func(row []driver.Value) error {
			var hash []byte
			var at int64
			if err := scan(row, []any{&hash, &at}); err != nil {
				return err
			}
			t := skein.Tombstone{At: skein.Time(at)}
			copy(t.Hash[:], hash)
			page = append(page, t)
			return nil
		})
	})
	return page, err
}

// Bury implements [skein.Burier]. The file does not say whose tombstones are.
func (s *Store) Bury(ctx context.Context, stones ...skein.Tombstone) (err error) {
	defer skein.Wrapf(&err, "sqlite: bury %d", len(stones))
	return s.write(ctx, func(t *tx) error {
		for _, st := range stones {
			if _, _, err := t.exec(`INSERT INTO tombstones (hash, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, st.Hash[:sha256.Size], int64(st.At)); err != nil {
				return err
			}
		}
		return nil
	})
}
