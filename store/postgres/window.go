package postgres

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
)

// Window implements [skein.Store]; see [walk.Window].
func (s reads) Window(ctx context.Context, id skein.SessionID, n int) (events []skein.Event, err error) {
	defer skein.Wrapf(&err, "postgres: window of %s", id)
	if n < 1 {
		return walk.All(room.Kept(ctx, s.Events(ctx, id, 0), func(e skein.Event) int { return len(e.Payload) }))
	}
	err = s.read(ctx, func(q *conn) error {
		w, x, err := q.walker(id)
		if err == nil {
			events, err = walk.Window(w, x, n)
		}
		return err
	})
	return events, err
}

// Line implements [walk.WindowLog].
func (w *walker) Line(segs walk.Segments) (rewound []skein.Event, amended []walk.Amendment, err error) {
	p := w.q.pipe()
	w.events(p, segs, &rewound, `e.kind = 'rewound' ORDER BY e.seq`)
	w.each(p, segs, `e.seq, coalesce(e.amends, 0), e.role IS NULL`, `e.kind = 'amended' ORDER BY e.seq`, nil, func(r row) error {
		var m walk.Amendment
		err := r.Scan(&m.Seq, &m.Amends, &m.Empty)
		amended = append(amended, m)
		return err
	})
	return rewound, amended, p.run()
}

func int64s(seqs []skein.Seq) []int64 {
	places := make([]int64, len(seqs))
	for i, seq := range seqs {
		places[i] = int64(seq)
	}
	return places
}

// Compacted implements [walk.WindowLog].
func (w *walker) Compacted(segs walk.Segments) (last *skein.Event, err error) {
	for _, seg := range segs {
		var found []skein.Event
		p := w.q.pipe()
		w.events(p, walk.Segments{seg}, &found, `e.kind = 'compacted' ORDER BY e.seq DESC LIMIT 1`)
		if err := p.run(); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	return nil, nil
}

// Next implements [walk.WindowLog].
func (w *walker) Next(segs walk.Segments) (*walk.Said, error) {
	for _, seg := range segs {
		var found []walk.Said
		p := w.q.pipe()
		w.said(p, walk.Segments{seg}, &found, `e.kind = 'said' ORDER BY e.seq LIMIT 1`)
		if err := p.run(); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	return nil, nil
}

// Tools implements [walk.WindowLog].
func (w *walker) Tools(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.pipe()
	w.events(p, segs, &events, `e.kind = 'tool'`)
	return events, p.run()
}

// At implements [walk.WindowLog].
func (w *walker) At(segs walk.Segments, seqs []skein.Seq) (events []skein.Event, err error) {
	p := w.q.pipe()
	w.events(p, segs, &events, `e.seq = ANY ($5)`, int64s(seqs))
	return events, p.run()
}

// events adds a query to the pipe for the events of segs for which a condition holds;
// its arguments start at $5.
func (w *walker) events(p *pipe, segs walk.Segments, all *[]skein.Event, cond string, args ...any) {
	w.each(p, segs, eventColumns, cond, args, func(r row) error {
		if err := w.q.hold(r); err != nil {
			return err
		}
		e, _, err := scanEvent(r)
		*all = append(*all, e)
		return err
	})
}

// each is events for some columns; it calls do for each row.
func (w *walker) each(p *pipe, segs walk.Segments, columns, cond string, args []any, do func(row) error) {
	for _, seg := range segs {
		p.query(`SELECT `+columns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND `+cond,
			append([]any{string(w.user), seg.Session, int64(seg.From), int64(seg.To)}, args...), do)
	}
}
