package postgres

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// A tombOf is a tombstone: its hash, and whose it is; "" stands for anybody.
type tombOf struct {
	hash string
	user skein.User
}

// tombs returns the tombstones that there must not be for a batch.
func (p *packed) tombs() (all [][]byte) {
	if p.Session == "" {
		return nil
	}
	var first *ledger.Event
	if len(p.events) > 0 {
		first = &p.events[0]
	}
	for _, t := range ledger.Tombs(&p.Batch, first) {
		all = append(all, t[:])
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
