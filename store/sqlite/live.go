package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// updateLive updates a session's live events after the event p, which took
// back, withdrew or changed messages.
func (t *call) updateLive(h *head, p *packedEvent) error {
	segs, err := headSegments(t.tx, h)
	if err != nil {
		return err
	}
	was, err := t.gaps(h.n, segs, h.Last-1)
	if err != nil {
		return err
	}
	x := walk.StateOf(&h.Session, h.Prompts, was.ranges)
	l := newWalker(t.s.pack, t.Conn, nil)
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
	return t.putGaps(h.n, was.written, x.Gaps)
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
	x, err := walk.Undone(newWalker(t.s.pack, t.Conn, nil), segs, last)
	if err == nil && !x.Hurt {
		g.ranges = x.Gaps
	}
	return g, err
}

// putGaps records now as what is taken back of session n; was is what is recorded.
func (t *tx) putGaps(n int64, was, now []skein.SeqRange) error {
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

// within calls do for the rows that query returns for each of segs, limited to
// r. The arguments of query are a session, the range of seqs, the last seq of
// the session that counts, and args.
func (w queries) within(segs walk.Segments, r skein.SeqRange, query string, do func(row []driver.Value) error, args ...any) error {
	for _, seg := range segs {
		from, to := max(seg.From, r.From), min(seg.To, r.To)
		if from >= to {
			continue
		}
		if err := w.conn.Query(query, append([]any{seg.Session, int64(from), int64(to), int64(seg.To)}, args...), do); err != nil {
			return err
		}
	}
	return nil
}

// Rewinds implements [walk.LiveLog].
func (w liveQueries) Rewinds(segs walk.Segments) ([]skein.Event, error) {
	return w.readable(segs, `INDEXED BY events_rewound WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'rewound' ORDER BY e.seq`)
}

// readable is events, except that a damaged event has no payload.
func (w queries) readable(segs walk.Segments, cond string) (events []skein.Event, err error) {
	err = w.each(segs, selectEvent+cond, func(row []driver.Value) error {
		e, _, err := rowEvent(w.pack, row)
		if errors.Is(err, skein.ErrCorrupt) {
			e.Payload, err = nil, nil
		}
		events = append(events, e)
		return err
	})
	return events, err
}

// Readable implements [walk.LiveLog].
func (w liveQueries) Readable(segs walk.Segments, seq skein.Seq) (e skein.Event, err error) {
	some, err := w.readable(walk.Segments{{Session: segs.Of(seq).Session, From: seq - 1, To: seq}}, `WHERE e.session = ? AND e.seq > ? AND e.seq <= ?`)
	if len(some) > 0 {
		e = some[0]
	}
	return e, err
}

const (
	// pieceColumns are the columns that scanPiece reads, of events e.
	pieceColumns = `e.seq, coalesce(e.message, ''), e.piece, e.turn > coalesce((SELECT p.turn FROM events p WHERE p.session = e.session AND p.seq = e.seq - 1), 0)`
	// isGone says that nothing is live in the place of event e.
	isGone = `coalesce((SELECT a.role IS NULL FROM events a INDEXED BY events_amends
		WHERE a.session = e.session AND a.kind = 'amended' AND a.amends = e.seq AND a.seq <= ?4 ORDER BY a.seq DESC LIMIT 1), 0)`
)

func scanPiece(row []driver.Value) (p walk.Piece, err error) {
	var seq, more, typed int64
	err = engine.Scan(row, []any{&seq, &p.Message, &more, &typed})
	p.Seq, p.More, p.Typed = skein.Seq(seq), more != 0, typed != 0 && more == 0
	return p, err
}

// pieces adds the pieces that a query returns.
func (w liveQueries) pieces(segs walk.Segments, r skein.SeqRange, query string, args ...any) (all []walk.Piece, err error) {
	err = w.within(segs, r, query, func(row []driver.Value) error {
		p, err := scanPiece(row)
		all = append(all, p)
		return err
	}, args...)
	return all, err
}

// everywhere is the range of all places.
var everywhere = skein.SeqRange{From: 0, To: 1 << 62}

// PiecesOf implements [walk.LiveLog].
func (w liveQueries) PiecesOf(segs walk.Segments, message string) ([]walk.Piece, error) {
	return w.pieces(segs, everywhere, `SELECT `+pieceColumns+` FROM events e INDEXED BY events_by_message
		WHERE e.session = ?1 AND e.seq > ?2 AND e.seq <= ?3 AND ?4 > 0 AND e.message = ?5 AND e.kind = 'said'`, message)
}

// PieceAt implements [walk.LiveLog].
func (w liveQueries) PieceAt(segs walk.Segments, seq skein.Seq) ([]walk.Piece, error) {
	return w.pieces(segs, skein.SeqRange{From: seq - 1, To: seq}, `SELECT `+pieceColumns+` FROM events e
		WHERE e.session = ?1 AND e.seq > ?2 AND e.seq <= ?3 AND ?4 > 0 AND e.kind = 'said'`)
}

// Gone implements [walk.LiveLog].
func (w liveQueries) Gone(segs walk.Segments, r skein.SeqRange) ([]walk.Piece, error) {
	return w.pieces(segs, r, `SELECT `+pieceColumns+` FROM (SELECT DISTINCT x.amends AS seq FROM events x INDEXED BY events_amends
			WHERE x.session = ?1 AND x.kind = 'amended' AND x.amends > ?2 AND x.amends <= ?3 AND x.seq <= ?4 AND x.role IS NULL) g
		CROSS JOIN events e ON e.session = ?1 AND e.seq = g.seq WHERE e.kind = 'said' AND `+isGone)
}

// AnyGone implements [walk.LiveLog].
func (w liveQueries) AnyGone(segs walk.Segments) (is bool, err error) {
	for _, seg := range segs {
		var n int64
		_, err := w.conn.One(`SELECT EXISTS (SELECT 1 FROM events a INDEXED BY events_amends WHERE a.session = ? AND a.kind = 'amended' AND a.role IS NULL)`, []any{seg.Session}, &n)
		if is = n != 0; is || err != nil {
			return is, err
		}
	}
	return false, nil
}

// Continued implements [walk.LiveLog].
func (w liveQueries) Continued(segs walk.Segments, r skein.SeqRange) (ids []string, err error) {
	err = w.within(segs, r, `SELECT DISTINCT e.message FROM events e WHERE e.session = ?1 AND e.seq > ?2 AND e.seq <= ?3 AND ?4 > 0 AND e.piece = 1 AND e.message IS NOT NULL`, func(row []driver.Value) error {
		var id string
		err := engine.Scan(row, []any{&id})
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// Amendments implements [walk.LiveLog].
func (w liveQueries) Amendments(segs walk.Segments, seqs []skein.Seq) (all []walk.Amendment, err error) {
	for _, seq := range seqs {
		err := w.within(segs, skein.SeqRange{From: seq - 1, To: seq}, `SELECT a.seq, a.amends, a.role IS NULL FROM events a INDEXED BY events_amends
			WHERE a.session = ?1 AND a.kind = 'amended' AND a.amends > ?2 AND a.amends <= ?3 AND a.seq <= ?4`, func(row []driver.Value) error {
			var at, amends, empty int64
			err := engine.Scan(row, []any{&at, &amends, &empty})
			all = append(all, walk.Amendment{Seq: skein.Seq(at), Amends: skein.Seq(amends), Empty: empty != 0})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// isPrompt selects the events that LastPrompt and FirstPrompt look for.
const isPrompt = `WHERE e.session = ?1 AND e.seq > ?2 AND e.seq <= ?3 AND e.kind = 'said' AND e.role = 'user' AND e.piece = 0 AND (e.message IS NOT NULL OR NOT ` + isGone + `)`

// LastPrompt implements [walk.LiveLog].
func (w liveQueries) LastPrompt(seg walk.Segment, r skein.SeqRange) ([]walk.Piece, error) {
	return w.pieces(walk.Segments{seg}, r, `SELECT `+pieceColumns+` FROM events e `+isPrompt+` ORDER BY e.seq DESC LIMIT 1`)
}

// FirstPrompt implements [walk.LiveLog].
func (w liveQueries) FirstPrompt(seg walk.Segment, r skein.SeqRange) ([]walk.Piece, error) {
	return w.pieces(walk.Segments{seg}, r, `SELECT `+pieceColumns+` FROM events e `+isPrompt+` ORDER BY e.seq LIMIT 1`)
}

// Counts implements [walk.LiveLog]. If an event is missing, the counts come
// from the one before it.
func (w liveQueries) Counts(segs walk.Segments, seqs []skein.Seq) ([]skein.Counts, error) {
	counts := make([]skein.Counts, len(seqs))
	for i, seq := range seqs {
		if seq == 0 {
			continue
		}
		var messages, turns int64
		if _, err := w.conn.One(`SELECT ordinal, turn FROM events WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`, []any{segs.Of(seq).Session, int64(seq)}, &messages, &turns); err != nil {
			return nil, fmt.Errorf("event %d: %w", seq, err)
		}
		counts[i] = skein.Counts{Messages: int(messages), Turns: int(turns)}
	}
	return counts, nil
}
