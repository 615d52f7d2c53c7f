package sqlite

import (
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// updateLive updates a session's live events after the event p, which took
// back, withdrew or changed messages.
func (t *call) updateLive(h *columns.Head, p *packedEvent) error {
	segs, err := headSegments(t.Tx, h)
	if err != nil {
		return err
	}
	was, err := t.gaps(h.N, segs, h.Last-1)
	if err != nil {
		return err
	}
	x := walk.StateOf(&h.Session, h.Prompts, was.ranges)
	l := eventlog.New(t.s.pack, t.Conn, nil)
	if r := p.Facts.Rewound; r != nil {
		err = x.Rewind(l, segs, h.Last, r.To)
	} else {
		err = x.Amend(l, segs, h.Last, p.Facts.Amended.Seq)
	}
	if err != nil {
		return err
	}
	h.SetShown(x.Shown())
	h.Prompts = x.Prompts
	return putGaps(t.Tx, h.N, was.written, x.Gaps)
}

// gaps are the parts of a session that rewinds took back.
type gaps struct {
	ranges  []skein.SeqRange
	written []skein.SeqRange // as the table rewound_ranges has them
}

// gaps returns what was taken back of session n, which shows segs, up to the
// event last. If the session is still to be recounted, the table rewound_ranges may be
// wrong, and the rewinds are read instead, unless one of them is damaged.
func (t *call) gaps(n int64, segs walk.Segments, last skein.Seq) (g gaps, err error) {
	err = t.Query(`SELECT after, upto FROM rewound_ranges WHERE session = ? ORDER BY after`, []any{n}, func(row []driver.Value) error {
		var after, upto int64
		err := engine.Scan(row, []any{&after, &upto})
		g.written = append(g.written, skein.SeqRange{From: skein.Seq(after), To: skein.Seq(upto)})
		return err
	})
	if err != nil {
		return g, err
	}
	g.ranges = g.written
	var due int64
	if _, err := t.One(`SELECT EXISTS (SELECT 1 FROM maintenance WHERE name = ?)`, []any{recountName(n)}, &due); err != nil || due == 0 {
		return g, err
	}
	x, err := walk.Undone(eventlog.New(t.s.pack, t.Conn, nil), segs, last)
	if err == nil && !x.Hurt {
		g.ranges = x.Gaps
	}
	return g, err
}

// putGaps records now as what is taken back of session n; was is what is recorded.
func putGaps(t *txn.Tx, n int64, was, now []skein.SeqRange) error {
	written := map[skein.SeqRange]bool{}
	for _, g := range was {
		written[g] = true
	}
	keep := map[skein.SeqRange]bool{}
	for _, g := range now {
		keep[g] = true
	}
	for _, g := range was {
		if keep[g] {
			continue
		}
		if _, _, err := t.Exec(`DELETE FROM rewound_ranges WHERE session = ? AND after = ?`, n, int64(g.From)); err != nil {
			return err
		}
	}
	for _, g := range now {
		if written[g] {
			continue
		}
		if _, _, err := t.Exec(`INSERT INTO rewound_ranges (session, after, upto) VALUES (?, ?, ?)`, n, int64(g.From), int64(g.To)); err != nil {
			return err
		}
	}
	return nil
}
