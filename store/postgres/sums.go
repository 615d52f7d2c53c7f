package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// sumOver is how many events sumSome goes over at most, where most have a checksum.
const sumOver = 20_000

// sumSome gives their checksums to some of the events that are older than these,
// and reports whether there are more. Those that are damaged are left as they are:
// a checksum would bless them.
func (s *Store) sumSome(ctx context.Context) (more bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		var from, to mark
		var users []string
		var ns, seqs, sums []int64
		rows, size := 0, 0
		if more, err = t.one(`SELECT u.who, u.n, u.seq FROM unsummed u FOR UPDATE SKIP LOCKED`, nil, &from.user, &from.n, &from.seq); err != nil || !more {
			return err
		}
		if more, err = t.one(`SELECT e.user_id, e.n, e.seq FROM events e WHERE (e.user_id, e.n, e.seq) > ($1, $2, $3) ORDER BY e.user_id, e.n, e.seq OFFSET $4 LIMIT 1`,
			[]any{from.user, from.n, int64(from.seq), sumOver}, &to.user, &to.n, &to.seq); err != nil {
			return err
		}
		var last mark
		err := t.query(`SELECT `+eventColumns+`, e.user_id, e.n FROM events e WHERE e.sum IS NULL AND (e.user_id, e.n, e.seq) > ($1, $2, $3) AND ($5 OR (e.user_id, e.n, e.seq) <= ($6, $7, $8))
			ORDER BY e.user_id, e.n, e.seq LIMIT $4 FOR UPDATE SKIP LOCKED`, []any{from.user, from.n, int64(from.seq), stepRows, !more, to.user, to.n, int64(to.seq)}, func(r row) error {
			e, _, err := scanEvent(r, &last.user, &last.n)
			if bad := (*skein.DamagedError)(nil); err != nil && !errors.As(err, &bad) {
				return err
			}
			last.seq = e.Seq
			rows++
			if err == nil {
				users, ns, seqs, sums = append(users, last.user), append(ns, last.n), append(seqs, int64(e.Seq)), append(sums, sumOf(&e))
			}
			if size += len(e.Payload); size > stepBytes {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			return err
		}
		if rows == stepRows || err != nil {
			to, more = last, true
		}
		if len(sums) > 0 {
			if _, err := t.exec(`UPDATE events e SET sum = w.sum FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) w (user_id, n, seq, sum)
				WHERE e.user_id = w.user_id AND e.n = w.n AND e.seq = w.seq`, users, ns, seqs, sums); err != nil {
				return err
			}
		}
		if !more {
			_, err = t.exec(`DELETE FROM unsummed`)
			return err
		}
		_, err = t.exec(`UPDATE unsummed SET who = $1, n = $2, seq = $3`, to.user, to.n, int64(to.seq))
		return err
	})
	return more, err
}
