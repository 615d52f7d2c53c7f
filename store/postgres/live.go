package postgres

import (
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/eventlog"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// errAlone says that a job must be run by itself: it has to read what it has written.
var errAlone = errors.New("the job has to be run alone")

// pieces returns the segments that d shows.
func (d *sessionDraft) pieces() walk.Segments {
	if d.segs != nil {
		return d.segs
	}
	return walk.Segments{{Session: d.n, From: 0, To: d.Last}}
}

// A shake is an event that took back, withdrew or changed messages.
type shake struct {
	at, of  skein.Seq // its seq, and the seq that it goes back to or amends
	rewinds bool
}

// shaken notes that the event of a row is such an event in d.
func (d *sessionDraft) shaken(r *ledger.Row) {
	if x := r.Facts.Rewound; x != nil {
		d.shakes = append(d.shakes, shake{r.Seq, x.To, true})
		return
	}
	d.shakes = append(d.shakes, shake{r.Seq, r.Facts.Amended.Seq, false})
}

// joins reports whether d has a live message with the ID.
func (w *work) joins(d *sessionDraft, id string) (bool, error) {
	if !d.shook && len(d.shakes) == 0 {
		return d.messages[id], nil
	}
	if !w.alone {
		return false, errAlone
	}
	if d.changed() || len(d.shakes) > 0 {
		if err := w.flush(); err != nil {
			return false, err
		}
	}
	if err := w.updateLive(d); err != nil {
		return false, err
	}
	segs := d.shows()
	taken, err := w.tx.gaps(&d.head)
	if err != nil {
		return false, err
	}
	return walk.Joins(eventlog.New(w.tx.Conn, d.User), segs, taken, id)
}

// shows returns the segments that d shows, up to its end.
func (d *sessionDraft) shows() walk.Segments {
	return d.pieces().Within(skein.SeqRange{From: 0, To: d.Last})
}

// recountLive updates what is live in the sessions in which that has changed.
func (w *work) recountLive() error {
	for _, id := range w.order {
		d := w.drafts[id]
		if len(d.shakes) > 0 && d.changed() {
			if err := w.flush(); err != nil {
				return err
			}
		}
		if err := w.updateLive(d); err != nil {
			return err
		}
	}
	return nil
}

// updateLive updates what is live in d, whose events are already written.
func (w *work) updateLive(d *sessionDraft) error {
	if len(d.shakes) == 0 {
		return nil
	}
	segs := d.shows()
	was, err := w.tx.gaps(&d.head)
	if err != nil {
		return err
	}
	x := walk.StateOf(&d.Session, d.Prompts, was)
	l := eventlog.New(w.tx.Conn, d.User)
	for _, s := range d.shakes {
		if s.rewinds {
			err = x.Rewind(l, segs, s.at, s.of)
		} else {
			err = x.Amend(l, segs, s.at, s.of)
		}
		if err != nil {
			return err
		}
	}
	d.setLive(&x)
	d.shakes, d.shook, d.stood = nil, true, true
	return w.tx.putGaps(&d.head, was, x.Gaps)
}

// setLive sets in h what x says.
func (h *head) setLive(x *walk.LiveState) {
	h.SetShown(x.Shown())
	h.Prompts = x.Prompts
}

// gaps returns the ranges of a session that were taken back.
func (t *tx) gaps(h *head) (all []skein.SeqRange, err error) {
	err = t.Query(`SELECT after, upto FROM rewound_ranges WHERE user_id = $1 AND n = $2 ORDER BY after`, []any{string(h.User), h.n}, func(r wire.Row) error {
		var x skein.SeqRange
		err := r.Scan(&x.From, &x.To)
		all = append(all, x)
		return err
	})
	return all, err
}

// putGaps replaces the stored ranges that were taken back, was, by now.
func (t *tx) putGaps(h *head, was, now []skein.SeqRange) error {
	p := t.pipe()
	var gone []int64
	for _, g := range was {
		if !slices.Contains(now, g) {
			gone = append(gone, int64(g.From))
		}
	}
	if len(gone) > 0 {
		p.Exec(`DELETE FROM rewound_ranges WHERE user_id = $1 AND n = $2 AND after = ANY($3::bigint[])`, string(h.User), h.n, gone)
	}
	p.putRewound(h, slices.DeleteFunc(slices.Clone(now), func(g skein.SeqRange) bool { return slices.Contains(was, g) }))
	return p.Run()
}

// putRewound adds a statement to the pipe that stores gaps as taken back.
func (p *pipe) putRewound(h *head, gaps []skein.SeqRange) {
	if len(gaps) == 0 {
		return
	}
	after, upto := make([]int64, len(gaps)), make([]int64, len(gaps))
	for i, g := range gaps {
		after[i], upto[i] = int64(g.From), int64(g.To)
	}
	p.Exec(`INSERT INTO rewound_ranges (user_id, n, after, upto) SELECT $1, $2, x.* FROM unnest($3::bigint[], $4::bigint[]) x`, string(h.User), h.n, after, upto)
}
