package postgres

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

var _ erase.Burier = (*Store)(nil)

// Tombstones implements [erase.Burier].
func (s *Store) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return func(yield func(erase.Tombstone, error) bool) {
		hash, user := []byte{}, ""
		for {
			page, err := s.tombPage(ctx, hash, user)
			if err != nil {
				skein.Wrapf(&err, "postgres: tombstones")
				yield(erase.Tombstone{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
				hash, user = t.Hash[:], string(t.User)
			}
			if len(page) < pageRows {
				return
			}
		}
	}
}

// tombPage returns the next tombstones after a hash and its user.
func (s *Store) tombPage(ctx context.Context, hash []byte, user string) (page []erase.Tombstone, err error) {
	err = s.ask(ctx, `SELECT user_id, hash, at FROM tombstones WHERE (hash, user_id) > ($1::bytea, $2::text) AND ($3 = '' OR user_id = $3) ORDER BY hash, user_id LIMIT $4`,
		[]any{hash, user, string(s.user), pageRows}, func(r row) error {
			of, sum := "", []byte(nil)
			var at int64
			if err := r.Scan(&of, &sum, &at); err != nil {
				return err
			}
			t := erase.Tombstone{User: skein.User(of), At: skein.Time(at)}
			copy(t.Hash[:], sum)
			page = append(page, t)
			return nil
		})
	return page, err
}

// Bury implements [erase.Burier].
func (s *Store) Bury(ctx context.Context, stones ...erase.Tombstone) (err error) {
	defer skein.Wrapf(&err, "postgres: bury %d", len(stones))
	if len(stones) == 0 {
		return nil
	}
	var users []string
	var hashes [][]byte
	var at []int64
	for _, t := range stones {
		u := t.User
		if s.user != "" || u == "" {
			u = s.owner()
		}
		users, hashes, at = append(users, string(u)), append(hashes, t.Hash[:]), append(at, int64(t.At))
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO tombstones (user_id, hash, at) SELECT u, h, a FROM unnest($1::text[], $2::bytea[], $3::bigint[]) x (u, h, a) ON CONFLICT DO NOTHING`, users, hashes, at)
		return err
	})
}
