package postgres

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// Newest implements [skein.Store]; see [walk.Newest].
func (s reads) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (entries []skein.Entry, err error) {
	defer skein.Wrapf(&err, "postgres: newest %d messages of %s", n, id)
	err = s.read(ctx, func(q *conn) error {
		w, x, err := q.walker(id)
		if err == nil && n > 0 {
			w.ahead = x.Segments
			entries, err = walk.Newest(w, x, n, before)
		}
		return err
	})
	return entries, err
}

// A walker finds events of a user's sessions for package walk. It implements
// [walk.NewestLog], [walk.WindowLog], [walk.PastLog] and [walk.LiveLog].
type walker struct {
	q     *conn
	user  skein.User
	ahead walk.Segments // whose marks the next Back reads as well
	marks []walk.Said
}

// walker returns a walker for the events of session id, and where they are.
func (q *conn) walker(id skein.SessionID) (*walker, walk.Extent, error) {
	h, err := q.head(id)
	if err != nil {
		return nil, walk.Extent{}, err
	}
	if err := q.large(&h); err != nil {
		return nil, walk.Extent{}, err
	}
	segs, err := q.segments(&h, h.Last)
	return &walker{q: q, user: h.User}, walk.Extent{Segments: segs, Last: h.Last, Said: h.Said}, err
}

// saidColumns are the columns that scanSaid reads, of events e.
const saidColumns = eventColumns + `, coalesce(e.message, '')`

func scanSaid(r row) (x walk.Said, err error) {
	var p place
	x.Event, p, err = scanEvent(r, &x.Message)
	x.Turn, x.Prev, x.Piece = p.turn, p.prev, p.piece
	return x, err
}

// selectBack goes from the said event at seq $3 of session number $2 back to those
// after $4, at most $5, each found by the prev of the one after it. LATERAL and OFFSET
// keep the planner from any other plan.
const (
	backColumns = eventColumns + `, e.message`
	selectBack  = `WITH RECURSIVE back AS (
		SELECT ` + backColumns + `, 1 AS i FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3
		UNION ALL
		SELECT ` + backColumns + `, b.i + 1 FROM back b CROSS JOIN LATERAL
			(SELECT ` + backColumns + ` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = b.prev OFFSET 0) e
		WHERE b.prev > $4 AND b.i < $5)
	SELECT ` + saidColumns + ` FROM back e ORDER BY e.i`
)

// Back implements [walk.SaidLog].
func (w *walker) Back(seg walk.Segment, at skein.Seq, n int, do func(walk.Said) bool) error {
	p, more := w.q.pipe(), true
	w.said(p, w.ahead, &w.marks, markKinds)
	w.ahead = nil
	p.query(selectBack, []any{string(w.user), seg.Session, int64(at), int64(seg.From), n}, func(r row) error {
		if !more {
			return nil
		}
		if err := w.q.hold(r); err != nil {
			return err
		}
		x, err := scanSaid(r)
		more = err == nil && do(x)
		return err
	})
	return p.run()
}

// Place implements [walk.SaidLog].
func (w *walker) Place(seg walk.Segment, seq skein.Seq) (kind skein.Kind, prev skein.Seq, err error) {
	var text string
	_, err = w.q.one(`SELECT e.kind, e.prev FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3`,
		[]any{string(w.user), seg.Session, int64(seq)}, &text, &prev)
	return kindFrom(text), prev, err
}

// Pieces implements [walk.SaidLog].
func (w *walker) Pieces(segs walk.Segments, messages []string) (all []walk.Said, err error) {
	p := w.q.pipe()
	w.said(p, segs, &all, `e.message = ANY ($5)`, messages)
	return all, p.run()
}

// markKinds selects the events that change how others are read.
const markKinds = `e.kind IN ('rewound', 'compacted', 'amended')`

// Marks implements [walk.NewestLog]. The first call of Back has read them.
func (w *walker) Marks(walk.Segments) ([]walk.Said, error) { return w.marks, nil }

// said adds a query to the pipe for the events of segs for which a condition holds;
// its arguments start at $5.
func (w *walker) said(p *pipe, segs walk.Segments, all *[]walk.Said, cond string, args ...any) {
	w.each(p, segs, saidColumns, cond, args, func(r row) error {
		if err := w.q.hold(r); err != nil {
			return err
		}
		x, err := scanSaid(r)
		*all = append(*all, x)
		return err
	})
}

// Settings implements [walk.PastLog].
func (w *walker) Settings(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.pipe()
	w.readable(p, segs, &events, `e.kind IN ('created', 'changed') ORDER BY e.seq`)
	return events, p.run()
}
