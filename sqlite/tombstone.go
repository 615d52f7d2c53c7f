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

// checkTombstones refuses what would bring a deleted session back, unless it
// is to come back.
func (t *tx) checkTombstones(p *packed) error {
	tombs := [][]byte{idTomb(p.Session)}
	for i := range p.events {
		if c := p.events[i].f.Created; c != nil && c.Origin != nil && p.Import != nil {
			tombs = append(tombs, originTomb(c.Origin))
		}
	}
	for _, hash := range tombs {
		dead, err := t.buried(hash)
		switch {
		case err != nil:
			return err
		case dead && !p.Again:
			return fmt.Errorf("session %s %w", p.Session, skein.ErrDeleted)
		case dead:
			if _, _, err := t.exec(`DELETE FROM tombstones WHERE hash = ?`, hash); err != nil {
				return err
			}
		}
	}
	return nil
}

// buried reports whether there is a tombstone with this hash.
func (t *tx) buried(hash []byte) (bool, error) {
	if err := t.bury(); err != nil {
		return false, err
	}
	var at int64
	return t.one(`SELECT at FROM tombstones WHERE hash = ?`, []any{hash}, &at)
}

// bury makes tombstones of what was deleted in the shell.
func (t *tx) bury() error {
	type grave struct {
		id string
		o  skein.Origin
		at int64
	}
	var gs []grave
	err := t.query(`SELECT id, origin, path, origin_id, at FROM graves`, nil, func(row []driver.Value) error {
		var g grave
		err := scan(row, []any{&g.id, &g.o.Format, &g.o.Path, &g.o.ID, &g.at})
		gs = append(gs, g)
		return err
	})
	if err != nil || len(gs) == 0 {
		return err
	}
	for _, g := range gs {
		if err := t.putTombstones(skein.SessionID(g.id), &g.o, skein.Time(g.at)); err != nil {
			return err
		}
	}
	_, _, err = t.exec(`DELETE FROM graves`)
	return err
}

func (t *tx) putTombstones(id skein.SessionID, o *skein.Origin, at skein.Time) error {
	hashes := [][]byte{idTomb(id)}
	if o != nil && o.Format != "" {
		hashes = append(hashes, originTomb(o))
	}
	for _, h := range hashes {
		if _, _, err := t.exec(`INSERT INTO tombstones (hash, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, h, int64(at)); err != nil {
			return err
		}
	}
	return nil
}
