package purge

import (
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// Tombstones returns the next tombstones of a user after last, or the first ones if last
// has no user; those of all users if user is "". The error is the driver's.
func Tombstones(c *engine.Conn, user skein.User, last erase.Tombstone) (page []erase.Tombstone, err error) {
	err = c.Query(`SELECT hash, user_id, at FROM tombstones WHERE (hash, user_id) > (?1, ?2) AND (?3 = '' OR user_id = ?3) ORDER BY hash, user_id LIMIT 500`,
		[]any{last.Hash[:], string(last.User), string(user)}, func(row []driver.Value) error {
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
	return page, err
}

// HasTombstone reports whether a user has a tombstone with this hash or, if
// user is "", whether anybody has. The error is the driver's.
func HasTombstone(t *txn.Tx, user skein.User, hash ledger.Tomb) (bool, error) {
	if err := AddTombstones(t); err != nil {
		return false, err
	}
	var at int64
	return t.One(`SELECT at FROM tombstones WHERE hash = ?1 AND (?2 = '' OR user_id = ?2) LIMIT 1`, []any{hash[:], string(user)}, &at)
}

// AddTombstones adds tombstones for what was deleted in the shell. The error is the
// driver's.
func AddTombstones(t *txn.Tx) error {
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

// putTombstones adds the tombstones of a session.
func putTombstones(t *txn.Tx, user skein.User, id skein.SessionID, o *skein.Origin, at skein.Time) error {
	for _, h := range erase.Tombs(id, o) {
		if err := PutTombstone(t, user, h[:], at); err != nil {
			return err
		}
	}
	return nil
}

// PutTombstone adds a tombstone, unless the user has it. The error is the driver's.
func PutTombstone(t *txn.Tx, user skein.User, hash []byte, at skein.Time) error {
	_, _, err := t.Exec(`INSERT INTO tombstones (hash, user_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, string(user), int64(at))
	return err
}
