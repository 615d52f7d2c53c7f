package sqlite

import (
	"context"
	"database/sql/driver"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

var _ erase.Burier = (*Store)(nil)

// Tombstones implements [erase.Burier].
func (s *Store) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return func(yield func(erase.Tombstone, error) bool) {
		err := s.write(ctx, func(t *tx) error { return t.bury() })
		for last := (erase.Tombstone{}); ; {
			var page []erase.Tombstone
			if err == nil {
				page, err = s.tombPage(ctx, last)
			}
			if err != nil {
				skein.Wrapf(&err, "sqlite: tombstones")
				yield(erase.Tombstone{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
				last = t
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// tombPage returns the next tombstones after last; the first ones after one
// without a user.
func (s *Store) tombPage(ctx context.Context, last erase.Tombstone) (page []erase.Tombstone, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT hash, user_id, at FROM tombstones WHERE (hash, user_id) > (?1, ?2) AND (?3 = '' OR user_id = ?3) ORDER BY hash, user_id LIMIT 500`,
			[]any{last.Hash[:], string(last.User), string(s.user)}, func(row []driver.Value) error {
				var hash []byte
				var user string
				var at int64
				if err := scan(row, []any{&hash, &user, &at}); err != nil {
					return err
				}
				t := erase.Tombstone{User: skein.User(user), At: skein.Time(at)}
				copy(t.Hash[:], hash)
				page = append(page, t)
				return nil
			})
	})
	return page, err
}

// Bury implements [erase.Burier].
func (s *Store) Bury(ctx context.Context, stones ...erase.Tombstone) (err error) {
	defer skein.Wrapf(&err, "sqlite: bury %d", len(stones))
	return s.write(ctx, func(t *tx) error {
		for _, st := range stones {
			if s.user != "" || st.User == "" {
				st.User = s.owner()
			}
			if err := t.putTombstone(st.User, st.Hash[:], st.At); err != nil {
				return err
			}
		}
		return nil
	})
}
