package postgres

import (
	"crypto/sha256"
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

// A tombOf is a tombstone: its hash, and whose it is; "" stands for anybody.
type tombOf struct {
	hash string
	user skein.User
}

// beginner returns whose session p begins; where it begins none, whose view it
// came through.
func (w *work) beginner(p *packed) skein.User {
	if len(p.events) > 0 && p.events[0].f.Created != nil {
		return p.events[0].f.Created.User
	}
	return w.s.user
}

// tombs returns the hashes of the tombstones that there must not be for a batch.
func (p *packed) tombs() (all [][]byte) {
	if p.Session == "" {
		return nil
	}
	all = append(all, idTomb(p.Session))
	for i := range p.events {
		if c := p.events[i].f.Created; c != nil && c.Origin != nil && p.Import != nil {
			all = append(all, originTomb(c.Origin))
		}
	}
	return all
}

// readTombs adds the look for tombstones to the pipe.
func (w *work) readTombs(p *pipe, jobs []*job) {
	var hashes [][]byte
	for _, j := range jobs {
		for i := range j.batches {
			hashes = append(hashes, j.batches[i].tombs()...)
		}
	}
	if len(hashes) == 0 {
		return
	}
	p.query(`SELECT hash, user_id FROM tombstones WHERE hash = ANY ($1) AND ($2 = '' OR user_id = $2)`, []any{hashes, string(w.s.user)}, func(r row) error {
		var hash []byte
		var user skein.User
		err := r.Scan(&hash, &user)
		w.tombs[tombOf{string(hash), user}], w.tombs[tombOf{hash: string(hash)}] = true, true
		return err
	})
}

// checkTombstones refuses what would bring back a session that its user deleted,
// unless it is to come back.
func (w *work) checkTombstones(p *packed) error {
	user := w.beginner(p)
	for _, hash := range p.tombs() {
		x := tombOf{string(hash), user}
		if !w.tombs[x] {
			continue
		}
		if !p.Again {
			return fmt.Errorf("session %s %w", p.Session, skein.ErrDeleted)
		}
		put(w, w.tombs, x, false)
		w.lift = append(w.lift, x)
	}
	return nil
}

// writeLifts adds to the pipe what takes away the tombstones that are lifted.
func (w *work) writeLifts(p *pipe) {
	var users []string
	var hashes [][]byte
	for _, x := range w.lift {
		users, hashes = append(users, string(x.user)), append(hashes, []byte(x.hash))
	}
	if w.lift = nil; len(users) > 0 {
		p.exec(`DELETE FROM tombstones t USING unnest($1::text[], $2::bytea[]) x (user_id, hash) WHERE t.user_id = x.user_id AND t.hash = x.hash`, users, hashes)
	}
}
