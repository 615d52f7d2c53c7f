package postgres

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/stream"
)

var _ erase.Tombstones = (*Store)(nil)

// Tombstones implements [erase.Tombstones].
func (s lifecycle) Tombstones(ctx context.Context) iter.Seq2[erase.Tombstone, error] {
	return stream.Pages(ctx, erase.Tombstone{}, func(at *erase.Tombstone) (page []erase.Tombstone, more bool, err error) {
		defer skein.Wrapf(&err, "postgres: tombstones")
		page, err = s.tombPage(ctx, *at)
		if len(page) > 0 {
			*at = page[len(page)-1]
		}
		return page, len(page) == wire.PageRows, err
	})
}

// tombPage returns the next tombstones after last.
func (s lifecycle) tombPage(ctx context.Context, last erase.Tombstone) (page []erase.Tombstone, err error) {
	err = s.ask(ctx, `SELECT user_id, hash, at FROM tombstones WHERE (hash, user_id) > ($1::bytea, $2::text) AND ($3 = '' OR user_id = $3) ORDER BY hash, user_id LIMIT $4`,
		[]any{last.Hash[:], string(last.User), string(s.user), wire.PageRows}, func(r wire.Row) error {
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

// PutTombstones implements [erase.Tombstones].
func (s lifecycle) PutTombstones(ctx context.Context, stones ...erase.Tombstone) (err error) {
	defer skein.Wrapf(&err, "postgres: put %d tombstones", len(stones))
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
		_, err := t.Exec(`INSERT INTO tombstones (user_id, hash, at) SELECT u, h, a FROM unnest($1::text[], $2::bytea[], $3::bigint[]) x (u, h, a) ON CONFLICT DO NOTHING`, users, hashes, at)
		return err
	})
}

// A tombOf is a tombstone: its hash and its user; "" means any user.
type tombOf struct {
	hash string
	user skein.User
}

// tombs returns the tombstones that must not exist for a batch.
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

// readTombs adds the query for tombstones to the pipe.
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
	p.Query(`SELECT hash, user_id FROM tombstones WHERE hash = ANY ($1) AND ($2 = '' OR user_id = $2)`, []any{hashes, string(w.s.user)}, func(r wire.Row) error {
		var hash []byte
		var user skein.User
		err := r.Scan(&hash, &user)
		w.tombs[tombOf{string(hash), user}], w.tombs[tombOf{hash: string(hash)}] = true, true
		return err
	})
}

// writeLifts adds the statement that deletes the lifted tombstones to the pipe.
func (w *work) writeLifts(p *pipe) {
	var users []string
	var hashes [][]byte
	for _, x := range w.lift {
		users, hashes = append(users, string(x.user)), append(hashes, []byte(x.hash))
	}
	if w.lift = nil; len(users) > 0 {
		p.Exec(`DELETE FROM tombstones t USING unnest($1::text[], $2::bytea[]) x (user_id, hash) WHERE t.user_id = x.user_id AND t.hash = x.hash`, users, hashes)
	}
}
