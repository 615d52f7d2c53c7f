package postgres

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
)

// sumSome gives their checksums to some of the events that are older than these,
// and reports whether there are more. Those that are damaged are left as they are:
// a checksum would bless them.
func (s *Store) sumSome(ctx context.Context) (more bool, err error) {
	s.mu.Lock()
	from := s.summed
	s.mu.Unlock()
	err = s.write(ctx, func(t *tx) error {
		var users []string
		var ns, seqs, sums []int64
		to, size := from, 0
		more = false
		err := t.query(`SELECT `+eventColumns+`, e.user_id, e.n FROM events e WHERE e.sum IS NULL AND (e.user_id, e.n, e.seq) > ($1, $2, $3)
			ORDER BY e.user_id, e.n, e.seq LIMIT $4 FOR UPDATE SKIP LOCKED`, []any{to.user, to.n, int64(to.seq), stepRows}, func(r row) error {
			e, _, err := scanEvent(r, &to.user, &to.n)
			if bad := (*skein.DamagedError)(nil); err != nil && !errors.As(err, &bad) {
				return err
			}
			to.seq, more = e.Seq, true
			if err == nil {
				users, ns, seqs, sums = append(users, to.user), append(ns, to.n), append(seqs, int64(e.Seq)), append(sums, sumOf(&e))
			}
			if size += len(e.Payload); size > stepBytes {
				return errStop
			}
			return nil
		})
		if err = unstop(err); err != nil {
			return err
		}
		if len(sums) > 0 {
			if _, err := t.exec(`UPDATE events e SET sum = w.sum FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) w (user_id, n, seq, sum)
				WHERE e.user_id = w.user_id AND e.n = w.n AND e.seq = w.seq`, users, ns, seqs, sums); err != nil {
				return err
			}
		}
		t.after = append(t.after, func() { s.passed(to) })
		return nil
	})
	return more, err
}

// passed notes that sumSome has looked at all events up to m.
func (c *core) passed(m mark) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.summed = m
}
