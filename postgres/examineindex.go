package postgres

import (
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/examine"
)

// A misfit is an event of which the index says something else.
type misfit struct {
	user skein.User
	n    int64
	seq  skein.Seq
}

// index compares what search finds with the events that the index was fed
// with, and makes anew what differs.
func (ex *exam) index(area string) error {
	lag, err := ex.s.Lag(ex.ctx)
	if err != nil {
		return err
	}
	waiting := examine.Waits(lag, time.Now())
	wrong, err := ex.misfits()
	if err == nil {
		wrong, err = ex.notWaiting(wrong)
	}
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return ex.Mend(skein.Finding{
			Area: area, Level: skein.Damaged,
			Text: fmt.Sprintf("the search index disagrees with the texts of %d events; it can be made anew from them", len(wrong)),
		}, func() error { return ex.reindex(wrong) })
	}
	ex.Fine(area, "the search index agrees with the texts; %s", waiting)
	return nil
}

// misfits returns the events of which the index has another text, or that it
// does not have though it should, or should in a moment.
func (ex *exam) misfits() (wrong []misfit, err error) {
	for at := (mark{}); ; {
		rows, size := 0, 0
		err := ex.rows(`SELECT `+suspectColumns+`, e.user_id, e.n, f.text, `+alive("e")+`
			FROM events e LEFT JOIN found f ON f.user_id = e.user_id AND f.n = e.n AND f.seq = e.seq
			WHERE (e.user_id, e.n, e.seq) > ($1, $2, $3) ORDER BY e.user_id, e.n, e.seq LIMIT $4`, []any{at.user, at.n, int64(at.seq), pageRows}, func(r row) error {
			var x suspect
			var text *string
			var there bool
			var err error
			if x.Event, _, err = scanEvent(r, &x.aimed, &at.user, &at.n, &text, &there); err != nil {
				return err
			}
			rows++
			at.seq = x.Seq
			f, finds := textOf(x.Event, x.aimed)
			if there && (text == nil && finds || text != nil && (!finds || *text != f.Text)) {
				wrong = append(wrong, misfit{skein.User(at.user), at.n, x.Seq})
			}
			if size += len(x.Payload); size > pageBytes {
				return errStop
			}
			return nil
		})
		if err != nil || rows == 0 {
			return wrong, err
		}
	}
}

// notWaiting returns those of some events that the index was fed with.
func (ex *exam) notWaiting(some []misfit) (wrong []misfit, err error) {
	for page := range slices.Chunk(some, examRows) {
		err := ex.s.read(ex.ctx, func(q *conn) error {
			p := q.pipe()
			for _, m := range page {
				p.query(`SELECT 1 WHERE NOT EXISTS (SELECT FROM journal j WHERE j.user_id = $1 AND j.n = $2 AND j.after < $3 AND j.upto >= $3 AND `+behindMark+`)`,
					[]any{string(m.user), m.n, int64(m.seq)}, func(row) error {
						wrong = append(wrong, m)
						return nil
					})
			}
			return p.run()
		})
		if err != nil {
			return nil, err
		}
	}
	return wrong, nil
}

// reindex makes rows of the index anew.
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
