package eventlog

import (
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// liveQueries find which messages are live, and the texts of a session.
type liveQueries struct{ queries }

// Rewinds implements [walk.LiveLog].
func (w *liveQueries) Rewinds(segs walk.Segments) (events []skein.Event, err error) {
	p := w.q.Pipe()
	w.readable(p, segs, &events, `e.kind = 'rewound' ORDER BY e.seq`)
	return events, p.Run()
}

// Readable implements [walk.LiveLog].
func (w *liveQueries) Readable(segs walk.Segments, seq skein.Seq) (e skein.Event, err error) {
	var some []skein.Event
	p := w.q.Pipe()
	w.readable(p, walk.Segments{{Session: segs.Of(seq).Session, From: seq - 1, To: seq}}, &some, `true`)
	if err = p.Run(); len(some) > 0 {
		e = some[0]
	}
	return e, err
}

const (
	// pieceColumns are the columns that pieces reads, of events e.
	pieceColumns = `e.seq, coalesce(e.message, ''), e.piece, NOT e.piece AND e.turn > coalesce((SELECT p.turn FROM events p WHERE p.user_id = e.user_id AND p.n = e.n AND p.seq = e.seq - 1), 0)`
	// isGone is the condition that event e was withdrawn.
	isGone = `coalesce((SELECT a.role IS NULL FROM events a
		WHERE a.user_id = $1 AND a.n = $2 AND a.amends = e.seq AND a.amends IS NOT NULL AND a.seq <= $5 ORDER BY a.seq DESC LIMIT 1), false)`
	// hereOnly is the condition for the events that a query of pieces looks at.
	hereOnly = ` WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND $5::bigint > 0 AND e.kind = 'said' AND `
)

// pieces returns the pieces that a query finds.
func (w *liveQueries) pieces(segs walk.Segments, r skein.SeqRange, query string, args ...any) (all []walk.Piece, err error) {
	p := w.q.Pipe()
	w.within(p, segs, r, query, args, func(r wire.Row) error {
		var x walk.Piece
		err := r.Scan(&x.Seq, &x.Message, &x.More, &x.Typed)
		all = append(all, x)
		return err
	})
	return all, p.Run()
}

// everywhere is the range of all seqs.
var everywhere = skein.SeqRange{From: 0, To: 1 << 62}

// PiecesOf implements [walk.LiveLog].
func (w *liveQueries) PiecesOf(segs walk.Segments, message string) ([]walk.Piece, error) {
	return w.pieces(segs, everywhere, `SELECT `+pieceColumns+` FROM events e`+hereOnly+`e.message = $6`, message)
}

// PieceAt implements [walk.LiveLog].
func (w *liveQueries) PieceAt(segs walk.Segments, seq skein.Seq) ([]walk.Piece, error) {
	return w.pieces(segs, skein.SeqRange{From: seq - 1, To: seq}, `SELECT `+pieceColumns+` FROM events e`+hereOnly+`true`)
}

// Gone implements [walk.LiveLog].
func (w *liveQueries) Gone(segs walk.Segments, r skein.SeqRange) ([]walk.Piece, error) {
	return w.pieces(segs, r, `SELECT `+pieceColumns+` FROM (SELECT DISTINCT x.amends AS seq FROM events x
			WHERE x.user_id = $1 AND x.n = $2 AND x.amends > $3 AND x.amends <= $4 AND x.amends IS NOT NULL AND x.seq <= $5 AND x.role IS NULL) g
		JOIN events e ON e.user_id = $1 AND e.n = $2 AND e.seq = g.seq WHERE e.kind = 'said' AND `+isGone)
}

// AnyGone implements [walk.LiveLog].
func (w *liveQueries) AnyGone(segs walk.Segments) (is bool, err error) {
	p := w.q.Pipe()
	for _, seg := range segs {
		p.Query(`SELECT EXISTS (SELECT FROM events a WHERE a.user_id = $1 AND a.n = $2 AND a.amends IS NOT NULL AND a.role IS NULL)`, []any{string(w.user), seg.Session}, func(r wire.Row) error {
			var some bool
			err := r.Scan(&some)
			is = is || some
			return err
		})
	}
	return is, p.Run()
}

// Continued implements [walk.LiveLog].
func (w *liveQueries) Continued(segs walk.Segments, r skein.SeqRange) (ids []string, err error) {
	p := w.q.Pipe()
	w.within(p, segs, r, `SELECT DISTINCT e.message FROM events e`+hereOnly+`e.piece AND e.message IS NOT NULL`, nil, func(r wire.Row) error {
		var id string
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, p.Run()
}

// Amendments implements [walk.LiveLog].
func (w *liveQueries) Amendments(segs walk.Segments, seqs []skein.Seq) (all []walk.Amendment, err error) {
	p := w.q.Pipe()
	w.each(p, segs, `e.seq, e.amends, e.role IS NULL`, `e.amends = ANY ($5) AND e.amends IS NOT NULL`, []any{columns.Int64s(seqs)}, func(r wire.Row) error {
		var a walk.Amendment
		err := r.Scan(&a.Seq, &a.Amends, &a.Empty)
		all = append(all, a)
		return err
	})
	return all, p.Run()
}

// isPrompt selects the events that LastPrompt and FirstPrompt look for.
const isPrompt = `e.role = 'user' AND NOT e.piece AND (e.message IS NOT NULL OR NOT ` + isGone + `)`

// LastPrompt implements [walk.LiveLog].
func (w *liveQueries) LastPrompt(seg walk.Segment, r skein.SeqRange) ([]walk.Piece, error) {
	return w.pieces(walk.Segments{seg}, r, `SELECT `+pieceColumns+` FROM events e`+hereOnly+isPrompt+` ORDER BY e.seq DESC LIMIT 1`)
}

// FirstPrompt implements [walk.LiveLog].
func (w *liveQueries) FirstPrompt(seg walk.Segment, r skein.SeqRange) ([]walk.Piece, error) {
	return w.pieces(walk.Segments{seg}, r, `SELECT `+pieceColumns+` FROM events e`+hereOnly+isPrompt+` ORDER BY e.seq LIMIT 1`)
}

// Counts implements [walk.LiveLog]. Where an event is missing, the one before it
// says how many there were.
func (w *liveQueries) Counts(segs walk.Segments, seqs []skein.Seq) ([]skein.Counts, error) {
	counts := make([]skein.Counts, len(seqs))
	p := w.q.Pipe()
	for i, seq := range seqs {
		if seq > 0 {
			p.One(nil, `SELECT ordinal, turn FROM events WHERE user_id = $1 AND n = $2 AND seq <= $3 ORDER BY seq DESC LIMIT 1`,
				[]any{string(w.user), segs.Of(seq).Session, int64(seq)}, &counts[i].Messages, &counts[i].Turns)
		}
	}
	return counts, p.Run()
}

// Own implements [ledger.TextLog].
func (w *liveQueries) Own(seg walk.Segment, do func(e skein.Event, piece bool) error) error {
	for after := seg.From; after < seg.To; {
		at, size := after, 0
		err := wire.Unstop(w.q.Query(`SELECT `+columns.Event+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 ORDER BY e.seq LIMIT $5`,
			[]any{string(w.user), seg.Session, int64(after), int64(seg.To), wire.PageRows}, func(r wire.Row) error {
				e, said, err := columns.ScanEvent(r)
				size += len(e.Payload)
				if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
					e, err = bad.Placeholder(), nil
				}
				if err == nil {
					err = do(e, said.Piece)
				}
				if after = e.Seq; err == nil && size > wire.PageBytes {
					err = wire.ErrStop
				}
				return err
			}))
		if err != nil {
			return err
		}
		if at == after {
			return columns.Missing(after + 1)
		}
	}
	return nil
}
