package sqlite

import (
	"crypto/sha256"
	"database/sql/driver"
	"fmt"

	"github.com/skein-dev/skein"
)

// idTomb and originTomb are the hashes by which a deleted session is known.
func idTomb(id skein.SessionID) []byte { return tomb("id", string(id)) }

func originTomb(o *skein.Origin) []byte { return tomb("origin", o.Format, o.Path, o.ID) }

func tomb(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}

// beginner returns whose session p begins; where it begins none, whose view it
// came through.
func (t *call) beginner(p *packed) skein.User {
	if len(p.events) > 0 && p.events[0].f.Created != nil {
		return p.events[0].f.Created.User
	}
	return t.s.user
}

// checkTombstones refuses what would bring back a session that its user deleted,
// unless it is to come back.
func (t *call) checkTombstones(p *packed) error {
	user := t.beginner(p)
	tombs := [][]byte{idTomb(p.Session)}
	for i := range p.events {
		if c := p.events[i].f.Created; c != nil && c.Origin != nil && p.Import != nil {
			tombs = append(tombs, originTomb(c.Origin))
		}
	}
	for _, hash := range tombs {
		dead, err := t.buried(user, hash)
		switch {
		case err != nil:
			return err
		case dead && !p.Again:
			return fmt.Errorf("session %s %w", p.Session, skein.ErrDeleted)
		case dead:
			if _, _, err := t.exec(`DELETE FROM tombstones WHERE hash = ? AND user_id IN (?, '')`, hash, string(user)); err != nil {
				return err
			}
		}
	}
	return nil
}

// buried reports whether a user has a tombstone with this hash, or one that is
// everybody's; if user is "", whether anybody has.
func (t *tx) buried(user skein.User, hash []byte) (bool, error) {
	if err := t.bury(); err != nil {
		return false, err
	}
	var at int64
	return t.one(`SELECT at FROM tombstones WHERE hash = ?1 AND (?2 = '' OR user_id IN (?2, '')) LIMIT 1`, []any{hash, string(user)}, &at)
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
	hashes := [][]byte{idTomb(id)}
	if o != nil && o.Format != "" {
		hashes = append(hashes, originTomb(o))
	}
	for _, h := range hashes {
		if err := t.putTombstone(user, h, at); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) putTombstone(user skein.User, hash []byte, at skein.Time) error {
	_, _, err := t.exec(`INSERT INTO tombstones (hash, user_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, hash, string(user), int64(at))
	return err
}
