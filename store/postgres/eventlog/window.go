package eventlog

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// windowQueries find what a window needs besides what was said.
type windowQueries struct{ queries }

// Line implements [walk.WindowLog].
func (w *windowQueries) Line(segs walk.Segments) (rewound []skein.Event, amended []walk.Amendment, err error) {
	p := w.q.Pipe()
	w.events(p, segs, &rewound, `e.kind = 'rewound' ORDER BY e.seq`)
	w.each(p, segs, `e.seq, coalesce(e.amends, 0), e.role IS NULL`, `e.kind = 'amended' ORDER BY e.seq`, nil, func(r wire.Row) error {
		var m walk.Amendment
		err := r.Scan(&m.Seq, &m.Amends, &m.Empty)
		amended = append(amended, m)
		return err
	})
	return rewound, amended, p.Run()
}

// Compacted implements [walk.WindowLog].
func (w *windowQueries) Compacted(segs walk.Segments) (last *skein.Event, err error) {
	for _, seg := range segs {
		var found []skein.Event
		p := w.q.Pipe()
		w.events(p, walk.Segments{seg}, &found, `e.kind = 'compacted' ORDER BY e.seq DESC LIMIT 1`)
		if err := p.Run(); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	return nil, nil
}

// Next implements [walk.WindowLog].
func (w *windowQueries) Next(segs walk.Segments) (*walk.Said, error) {
	for _, seg := range segs {
		var found []walk.Said
		p := w.q.Pipe()
		w.said(p, walk.Segments{seg}, &found, `e.kind = 'said' ORDER BY e.seq LIMIT 1`)
		if err := p.Run(); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return &found[0], nil
		}
	}
	return nil, nil
}

// Tools implements [walk.WindowLog].
func (w *windowQueries) Tools(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.Pipe()
	w.events(p, segs, &events, `e.kind = 'tool'`)
	return events, p.Run()
}

// At implements [walk.WindowLog].
func (w *windowQueries) At(segs walk.Segments, seqs []skein.Seq) (events []skein.Event, err error) {
	p := w.q.Pipe()
	w.events(p, segs, &events, `e.seq = ANY ($5)`, columns.Int64s(seqs))
	return events, p.Run()
}
