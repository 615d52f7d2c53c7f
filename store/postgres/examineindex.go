package postgres

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/hits"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A misfit is an event with which the search index disagrees.
type misfit struct {
	user skein.User
	n    int64
	seq  skein.Seq
}

// index compares the search index with the events that were indexed, and rebuilds
// the rows that differ.
func (ex *exam) index(area string) error {
	lag, err := ex.s.Lag(ex.ctx)
	if err != nil {
		return err
	}
	waiting := inspect.Waits(lag, time.Now())
	wrong, err := ex.misfits()
	if err == nil {
		wrong, err = ex.lasting(wrong)
	}
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return ex.Mend(inspect.Finding{
			Area: area, Level: inspect.Damaged,
			Text: fmt.Sprintf("the search index disagrees with the texts of %d events; it can be rebuilt from them", len(wrong)),
		}, func() error { return ex.reindex(wrong) })
	}
	ex.Fine(area, "the search index agrees with the texts; %s", waiting)
	return nil
}

// misfits returns the events for which the index has another text or should have no
// row, and those that it lacks, including those that are about to be indexed.
func (ex *exam) misfits() (wrong []misfit, err error) {
	for at := (resumePoint{}); ; {
		rows, size := 0, 0
		err := ex.rows(`SELECT `+suspectColumns+`, e.user_id, e.n, f.text, f.edits, `+alive("e")+`
			FROM events e LEFT JOIN found f ON f.user_id = e.user_id AND f.n = e.n AND f.seq = e.seq
			WHERE (e.user_id, e.n, e.seq) > ($1, $2, $3) ORDER BY e.user_id, e.n, e.seq LIMIT $4`, []any{at.user, at.n, int64(at.seq), wire.PageRows}, func(r wire.Row) error {
			m, bytes, is, err := misfitOf(r)
			if err != nil {
				return err
			}
			rows++
			if at.user, at.n, at.seq = string(m.user), m.n, m.seq; is {
				wrong = append(wrong, m)
			}
			if size += bytes; size > wire.PageBytes {
				return wire.ErrStop
			}
			return nil
		})
		if err != nil || rows == 0 {
			return wrong, err
		}
	}
}

// misfitOf scans an event and its row in the index, and reports whether they
// disagree; bytes is the size of the event.
func misfitOf(r wire.Row) (m misfit, bytes int, is bool, err error) {
	var x suspect
	var text *string
	var keys []int32
	var there bool
	x.Event, _, err = columns.ScanEvent(r, &x.aimed, &m.user, &m.n, &text, &keys, &there)
	m.seq = x.Seq
	if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
		return m, len(x.Payload), false, nil // indexing a damaged event would hide the damage
	}
	if err != nil {
		return m, 0, false, err
	}
	f, finds := hits.TextOf(x.Event, x.aimed)
	return m, len(x.Payload), there && (text == nil && finds || text != nil && (!finds || *text != f.Text || !slices.Equal(keys, hits.EditsOf(&f)))), nil
}

// lasting returns those events that were indexed and with which the index still
// disagrees: some may have been indexed after they were read.
func (ex *exam) lasting(some []misfit) (wrong []misfit, err error) {
	fed, err := ex.notWaiting(some)
	if err != nil {
		return nil, err
	}
	for page := range slices.Chunk(fed, examRows) {
		var users []string
		var ns, seqs []int64
		for _, m := range page {
			users, ns, seqs = append(users, string(m.user)), append(ns, m.n), append(seqs, int64(m.seq))
		}
		err := ex.rows(`SELECT `+suspectColumns+`, e.user_id, e.n, f.text, f.edits, `+alive("e")+`
			FROM unnest($1::text[], $2::bigint[], $3::bigint[]) w (user_id, n, seq)
			JOIN events e ON e.user_id = w.user_id AND e.n = w.n AND e.seq = w.seq
			LEFT JOIN found f ON f.user_id = e.user_id AND f.n = e.n AND f.seq = e.seq ORDER BY e.user_id, e.n, e.seq`, []any{users, ns, seqs}, func(r wire.Row) error {
			m, _, is, err := misfitOf(r)
			if is {
				wrong = append(wrong, m)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

// notWaiting returns those events that are not waiting to be indexed.
func (ex *exam) notWaiting(some []misfit) (wrong []misfit, err error) {
	for page := range slices.Chunk(some, examRows) {
		err := ex.s.read(ex.ctx, func(q *conn) error {
			p := q.pipe()
			for _, m := range page {
				p.Query(`SELECT 1 WHERE NOT EXISTS (SELECT FROM journal j WHERE j.user_id = $1 AND j.n = $2 AND j.after < $3 AND j.upto >= $3 AND `+hits.Waiting+`)`,
					[]any{string(m.user), m.n, int64(m.seq)}, func(wire.Row) error {
						wrong = append(wrong, m)
						return nil
					})
			}
			return p.Run()
		})
		if err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

// reindex rebuilds the rows of the index for some events.
func (ex *exam) reindex(wrong []misfit) error {
	for len(wrong) > 0 {
		first := wrong[0]
		var seqs []skein.Seq
		for len(wrong) > 0 && wrong[0].user == first.user && wrong[0].n == first.n && len(seqs) < stepRows {
			seqs = append(seqs, wrong[0].seq)
			wrong = wrong[1:]
		}
		err := ex.s.write(ex.ctx, func(t *tx) error {
			if err := t.lockIndex(); err != nil {
				return err
			}
			return t.reindex(first.user, first.n, seqs)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
