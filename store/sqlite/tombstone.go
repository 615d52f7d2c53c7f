package sqlite

import (
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
)

// buried reports whether a user has a tombstone with this hash; if user is "",
// whether anybody has.
func (t *tx) buried(user skein.User, hash ledger.Tomb) (bool, error) {
	if err := t.bury(); err != nil {
		return false, err
	}
	var at int64
	return t.one(`SELECT at FROM tombstones WHERE hash = ?1 AND (?2 = '' OR user_id = ?2) LIMIT 1`, []any{hash[:], string(user)}, &at)
}

// bury makes tombstones of what was deleted in the shell.
func (t *tx) bury() error {
	type grave struct {
		user, id string
		o        skein.Origin
		at       int64
	}
	var gs []grave
	err := t.query(`SELECT user_id, id, origin, path, origin_id, at FROM graves`, nil, func(row []driver.Value) error {
		var g grave
		err := scan(row, []any{&g.user, &g.id, &g.o.Format, &g.o.Path, &g.o.ID, &g.at})
		gs = append(gs, g)
		return err
	})
	if err != nil || len(gs) == 0 {
		return err
	}
	for _, g := range gs {
		if err := t.putTombstones(skein.User(g.user), skein.SessionID(g.id), &g.o, skein.Time(g.at)); err != nil {
			return err
		}
	}
	_, _, err = t.exec(`DELETE FROM graves`)
	return err
}

func (t *tx) putTombstones(user skein.User, id skein.SessionID, o *skein.Origin, at skein.Time) error {
	hashes := []ledger.Tomb{erase.TombOfID(id)}
	if o != nil && o.Format != "" {
		hashes = append(hashes, erase.TombOfOrigin(*o))
	}
	for _, h := range hashes {
		if err := t.putTombstone(user, h[:], at); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) putTombstone(user skein.User, hash []byte, at skein.Time) error {
	_, _, err := t.exec(`INSERT INTO tombstones (hash, user_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, string(user), int64(at))
	return err
}
