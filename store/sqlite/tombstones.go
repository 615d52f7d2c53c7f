package sqlite

import (
	"context"
	"database/sql/driver"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
	"github.com/skein-dev/skein/store/stream"
)

var _ erase.Tombstones = (*Store)(nil)

// Tombstones implements [erase.Tombstones].
func (s *lifecycle) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return stream.Pages(ctx, erase.Tombstone{}, func(at *erase.Tombstone) (page []erase.Tombstone, more bool, err error) {
		defer skein.Wrapf(&err, "sqlite: tombstones")
		if *at == (erase.Tombstone{}) {
			err = s.write(ctx, func(t *txn.Tx) error { return addTombstones(t) })
		}
		if err == nil {
			page, err = s.tombPage(ctx, *at)
		}
		if len(page) > 0 {
			*at = page[len(page)-1]
		}
		return page, len(page) > 0, err
	})
}

// tombPage returns the next tombstones after last, or the first ones if last
// has no user.
func (s *lifecycle) tombPage(ctx context.Context, last erase.Tombstone) (page []erase.Tombstone, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		return c.Query(`SELECT hash, user_id, at FROM tombstones WHERE (hash, user_id) > (?1, ?2) AND (?3 = '' OR user_id = ?3) ORDER BY hash, user_id LIMIT 500`,
			[]any{last.Hash[:], string(last.User), string(s.user)}, func(row []driver.Value) error {
				var hash []byte
				var user string
				var at int64
				if err := engine.Scan(row, []any{&hash, &user, &at}); err != nil {
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

// PutTombstones implements [erase.Tombstones].
func (s *lifecycle) PutTombstones(ctx context.Context, stones ...erase.Tombstone) (err error) {
	defer skein.Wrapf(&err, "sqlite: put %d tombstones", len(stones))
	return s.write(ctx, func(t *txn.Tx) error {
		for _, st := range stones {
			if s.user != "" || st.User == "" {
				st.User = s.owner()
			}
			if err := putTombstone(t, st.User, st.Hash[:], st.At); err != nil {
				return err
			}
		}
		return nil
	})
}

// hasTombstone reports whether a user has a tombstone with this hash or, if
// user is "", whether anybody has.
func hasTombstone(t *txn.Tx, user skein.User, hash ledger.Tomb) (bool, error) {
	if err := addTombstones(t); err != nil {
		return false, err
	}
	var at int64
	return t.One(`SELECT at FROM tombstones WHERE hash = ?1 AND (?2 = '' OR user_id = ?2) LIMIT 1`, []any{hash[:], string(user)}, &at)
}

// addTombstones adds tombstones for what was deleted in the shell.
func addTombstones(t *txn.Tx) error {
	type tomb struct {
		user, id string
		o        skein.Origin
		at       int64
	}
	var gs []tomb
	err := t.Query(`SELECT user_id, id, origin, path, origin_id, at FROM shell_deletions`, nil, func(row []driver.Value) error {
		var g tomb
		err := engine.Scan(row, []any{&g.user, &g.id, &g.o.Format, &g.o.Path, &g.o.ID, &g.at})
		gs = append(gs, g)
		return err
	})
	if err != nil || len(gs) == 0 {
		return err
	}
	for _, g := range gs {
		if err := putTombstones(t, skein.User(g.user), skein.SessionID(g.id), &g.o, skein.Time(g.at)); err != nil {
			return err
		}
	}
	_, _, err = t.Exec(`DELETE FROM shell_deletions`)
	return err
}

func putTombstones(t *txn.Tx, user skein.User, id skein.SessionID, o *skein.Origin, at skein.Time) error {
	for _, h := range erase.Tombs(id, o) {
		if err := putTombstone(t, user, h[:], at); err != nil {
			return err
		}
	}
	return nil
}

func putTombstone(t *txn.Tx, user skein.User, hash []byte, at skein.Time) error {
	_, _, err := t.Exec(`INSERT INTO tombstones (hash, user_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, string(user), int64(at))
	return err
}
