package eventlog

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// saidQueries find what was said, and what else is about it.
type saidQueries struct {
	queries
	ahead walk.Segments // whose marks the next Back reads as well
	marks []walk.Said
}

// Ahead lets the next Back read the marks of segs as well, for Marks.
func (w *saidQueries) Ahead(segs walk.Segments) { w.ahead = segs }

// saidColumns are the columns that scanSaid reads, of events e.
const saidColumns = columns.Event + `, coalesce(e.message, '')`

func scanSaid(r wire.Row) (x walk.Said, err error) {
	var p columns.Beside
	x.Event, p, err = columns.ScanEvent(r, &x.Message)
	x.Turn, x.Prev, x.Piece = p.Turn, p.Prev, p.Piece
	return x, err
}

// SelectBack goes from the said event at seq $3 of session number $2 back to those
// after $4, at most $5, each found by the prev of the one after it. LATERAL and OFFSET
// keep the planner from any other plan.
const (
	backColumns = columns.Event + `, e.message`
	SelectBack  = `WITH RECURSIVE back AS (
		SELECT ` + backColumns + `, 1 AS i FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3
		UNION ALL
		SELECT ` + backColumns + `, b.i + 1 FROM back b CROSS JOIN LATERAL
			(SELECT ` + backColumns + ` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = b.prev OFFSET 0) e
		WHERE b.prev > $4 AND b.i < $5)
	SELECT ` + saidColumns + ` FROM back e ORDER BY e.i`
)

// Back implements [walk.SaidLog].
func (w *saidQueries) Back(seg walk.Segment, at skein.Seq, n int, do func(walk.Said) bool) error {
	p, more := w.q.Pipe(), true
	w.said(p, w.ahead, &w.marks, MarkKinds)
	w.ahead = nil
	p.Query(SelectBack, []any{string(w.user), seg.Session, int64(at), int64(seg.From), n}, func(r wire.Row) error {
		if !more {
			return nil
		}
		if err := w.q.Hold(r); err != nil {
			return err
		}
		x, err := scanSaid(r)
		more = err == nil && do(x)
		return err
	})
	return p.Run()
}

// Place implements [walk.SaidLog].
func (w *saidQueries) Place(seg walk.Segment, seq skein.Seq) (kind skein.Kind, prev skein.Seq, err error) {
	var text string
	_, err = w.q.One(`SELECT e.kind, e.prev FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3`,
		[]any{string(w.user), seg.Session, int64(seq)}, &text, &prev)
	return columns.Kind(text), prev, err
}

// Pieces implements [walk.SaidLog].
func (w *saidQueries) Pieces(segs walk.Segments, messages []string) (all []walk.Said, err error) {
	p := w.q.Pipe()
	w.said(p, segs, &all, `e.message = ANY ($5)`, messages)
	return all, p.Run()
}

// MarkKinds selects the events that change how others are read.
const MarkKinds = `e.kind IN ('rewound', 'compacted', 'amended')`

// Marks implements [walk.NewestLog]. The first call of Back has read them.
func (w *saidQueries) Marks(walk.Segments) ([]walk.Said, error) { return w.marks, nil }

// Settings implements [walk.PastLog].
func (w *saidQueries) Settings(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.Pipe()
	w.readable(p, segs, &events, `e.kind IN ('created', 'changed') ORDER BY e.seq`)
	return events, p.Run()
}
