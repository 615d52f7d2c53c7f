package eventlog

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// liveQueries are queries for what is live in a session.
type liveQueries struct{ queries }

// Rewinds implements [walk.LiveLog].
func (w liveQueries) Rewinds(segs walk.Segments) ([]skein.Event, error) {
	return w.readable(segs, `INDEXED BY events_rewound WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind = 'rewound' ORDER BY e.seq`)
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

// Own implements [ledger.TextLog].
func (w liveQueries) Own(seg walk.Segment, do func(e skein.Event, piece bool) error) error {
	for after := seg.From; after < seg.To; {
		at := after
		err := w.conn.Query(columns.SelectEvent+`WHERE e.session = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?`, []any{seg.Session, int64(after), int64(seg.To), PageRows}, func(row []driver.Value) error {
			e, said, err := columns.ScanEvent(w.pack, row)
			if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
				e, err = bad.Placeholder(), nil
			}
			if err != nil {
				return err
			}
			after = e.Seq
			return do(e, said.Piece)
		})
		if err != nil {
			return err
		}
		if at == after {
			return fmt.Errorf("event %d: %w", after+1, skein.ErrCorrupt)
		}
	}
	return nil
}

// everywhere is the range of all places.
var everywhere = skein.SeqRange{From: 0, To: 1 << 62}
