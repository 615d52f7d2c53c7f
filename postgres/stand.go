package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// errAlone says that a job must be worked out by itself: it has to read what it
// has written.
var errAlone = errors.New("the job has to be run alone")

// pieces returns what d shows, as far as it was worked out.
func (d *draft) pieces() walk.Segments {
	if d.segs != nil {
		return d.segs
	}
	return walk.Segments{{Session: d.n, From: 0, To: d.Last}}
}

// shaken notes that an event took back, withdrew or changed messages of d.
func (w *work) shaken(d *draft, p *packedEvent) {
	if a := p.f.Amended; a != nil {
		if d.kinds[a.Seq] != skein.KindSaid || d.steady[a.Seq] && !a.Withdrawn {
			return // the same messages stand
		}
		if a.Withdrawn {
			put(w, d.steady, a.Seq, false)
		}
	}
	d.stale, d.rewound = true, d.rewound || p.f.Rewound != nil
}

// joins reports whether a message ID is that of a message of d that stands.
func (w *work) joins(d *draft, id string) (bool, error) {
	if !d.stale {
		return d.messages[id], nil
	}
	if !w.alone {
		return false, errAlone
	}
	if err := w.flush(); err != nil {
		return false, err
	}
	return walk.Joins(&walker{q: w.tx.conn, user: d.User}, d.pieces(), d.Last, id)
}

// restand works out what stands of the sessions in which that has changed.
func (w *work) restand() error {
	for _, id := range w.order {
		d := w.drafts[id]
		if !d.stale {
			continue
		}
		if d.changed() {
			if err := w.flush(); err != nil {
				return err
			}
		}
		l := &walker{q: w.tx.conn, user: d.User}
		x, err := walk.Stand(l, d.pieces(), d.Last)
		if err == nil && d.rewound {
			err = w.tx.putUndone(&d.head, d.pieces())
		}
		if err != nil {
			return err
		}
		d.Stand(x)
		d.stale, d.rewound, d.stood = false, false, true
	}
	return nil
}

// putUndone writes anew what was taken back of a session that shows segs.
func (t *tx) putUndone(h *head, segs walk.Segments) error {
	gaps, err := walk.Undone(&walker{q: t.conn, user: h.User}, segs, h.Last)
	if err != nil {
		return err
	}
	p := t.pipe()
	p.exec(`DELETE FROM undone WHERE user_id = $1 AND n = $2`, string(h.User), h.n)
	p.undone(h, gaps)
	return p.run()
}

// undone adds to the pipe that these places of a session were taken back.
func (p *pipe) undone(h *head, gaps []skein.SeqRange) {
	if len(gaps) == 0 {
		return
	}
	after, upto := make([]int64, len(gaps)), make([]int64, len(gaps))
	for i, g := range gaps {
		after[i], upto[i] = int64(g.From), int64(g.To)
	}
	p.exec(`INSERT INTO undone (user_id, n, after, upto) SELECT $1, $2, x.* FROM unnest($3::bigint[], $4::bigint[]) x`, string(h.User), h.n, after, upto)
}

// standSome works out what stands of a session that is older than the table
// undone, and reports whether there are more.
func (s *Store) standSome(ctx context.Context) (more bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		var id skein.SessionID
		var user string
		var n int64
		found, err := t.one(`SELECT u.user_id, u.n, coalesce(s.id, '') FROM undone u LEFT JOIN sessions s ON s.user_id = u.user_id AND s.n = u.n
			WHERE u.after < 0 ORDER BY u.user_id, u.n LIMIT 1 FOR UPDATE OF u SKIP LOCKED`, nil, &user, &n, &id)
		if more = found; err != nil || !found {
			return err
		}
		if id == "" { // deleted
			_, err := t.exec(`DELETE FROM undone WHERE user_id = $1 AND n = $2`, user, n)
			return err
		}
		if err := t.lock(id); err != nil {
			return err
		}
		h, err := t.head(id)
		if err == nil {
			err = t.touch(&h)
		}
		if err == nil {
			h, err = t.head(id) // nobody changes it from now on
		}
		if err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
		segs, err := t.segments(&h, h.Last)
		if err != nil {
			return err
		}
		x, err := walk.Stand(&walker{q: t.conn, user: h.User}, segs, h.Last)
		if err == nil {
			err = t.putUndone(&h, segs)
		}
		switch {
		case errors.Is(err, skein.ErrCorrupt): // what it counts stays as it is
			_, err = t.exec(`DELETE FROM undone WHERE user_id = $1 AND n = $2 AND after < 0`, user, n)
			return err
		case err != nil:
			return fmt.Errorf("session %s: %w", id, err)
		}
		h.Stand(x)
		return t.putRow(&h)
	})
	return more, err
}
