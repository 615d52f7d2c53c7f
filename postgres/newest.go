package postgres

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
)

// Newest implements [skein.Store].
//
// Each row names the said event before it, so that what is not said costs
// nothing.
func (s *Store) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (entries []skein.Entry, err error) {
	defer skein.Wrapf(&err, "postgres: newest %d messages of %s", n, id)
	err = s.read(ctx, func(q *conn) error {
		w, err := q.walk(id)
		if err != nil || n < 1 {
			return err
		}
		// What was withdrawn is left out, so there may have to be more.
		for want := n; ; want *= 2 {
			done, err := w.back(want, before)
			if err != nil {
				return err
			}
			if entries, err = w.entries(); err != nil {
				return err
			}
			if len(entries) >= n || done {
				entries = entries[max(0, len(entries)-n):]
				return nil
			}
		}
	})
	return entries, err
}

// A walk goes back along the said events of a session.
type walk struct {
	*conn
	head  head
	segs  []segment
	said  []spoken // newest first
	marks []spoken // nil until they are read
}

// walk returns a walk of session id, which is there.
func (q *conn) walk(id skein.SessionID) (w walk, err error) {
	w.conn = q
	if w.head, err = q.head(id); err == nil {
		w.segs, err = q.segments(&w.head, w.head.Last)
	}
	return w, err
}

// A spoken is a said event, or one that changes how others are read.
type spoken struct {
	e       skein.Event
	p       place
	message string // message ID, as its column has it
}

// spokenColumns are the columns that scanSpoken reads, of events e.
const spokenColumns = eventColumns + `, coalesce(e.message, '')`

func scanSpoken(r row) (x spoken, err error) {
	x.e, x.p, err = scanEvent(r, &x.message)
	return x, err
}

// selectBack goes from the said event at $3 of $2 back to those after $4, $5 at
// most, each found by the one behind it. LATERAL and OFFSET keep the planner
// from any other way.
const (
	backColumns = `e.seq, e.at, e.kind, e.client, e.payload, e.turn, e.prev, e.piece, e.message`
	selectBack  = `WITH RECURSIVE back AS (
		SELECT ` + backColumns + `, 1 AS i FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3
		UNION ALL
		SELECT ` + backColumns + `, b.i + 1 FROM back b CROSS JOIN LATERAL
			(SELECT ` + backColumns + ` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = b.prev OFFSET 0) e
		WHERE b.prev > $4 AND b.i < $5)
	SELECT ` + spokenColumns + ` FROM back e ORDER BY e.i`
)

// chain adds to the pipe the said events of seg from the one at a place back, n
// of them at most, the newest first.
func (w *walk) chain(p *pipe, seg segment, at, from skein.Seq, n int, f func(spoken) error) {
	p.query(selectBack, []any{string(w.head.User), seg.session, int64(at), int64(max(from, seg.from)), n}, func(r row) error {
		x, err := scanSpoken(r)
		if err != nil {
			return err
		}
		return f(x)
	})
}

// back reads the said events of the newest n messages that begin before a
// place, 0 for the end; done says that there are no more.
func (w *walk) back(n int, before skein.Seq) (done bool, err error) {
	w.said = nil
	at, err := w.last(before)
	for firsts := 0; err == nil && at > 0; {
		if firsts == n {
			return false, nil
		}
		p := w.pipe()
		if w.marks == nil {
			w.marks = []spoken{}
			w.collect(p, &w.marks, markKinds)
		}
		w.chain(p, inSegment(w.segs, at), at, 0, max(8, min(n-firsts, pageRows)), func(x spoken) error {
			if firsts == n {
				return nil
			}
			at = x.p.prev
			w.said = append(w.said, x)
			if !x.p.piece {
				firsts++
			}
			return nil
		})
		err = p.run()
	}
	return at <= 0, err
}

// last returns the place of the last said event before a place; 0 if none.
func (w *walk) last(before skein.Seq) (prev skein.Seq, err error) {
	if before <= 0 || before > w.head.Last {
		return w.head.said, nil
	}
	_, err = w.one(`SELECT e.prev FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3`,
		[]any{string(w.head.User), inSegment(w.segs, before).session, int64(before)}, &prev)
	return prev, err
}

// entries puts the messages together that were read, with the pieces of them
// that stand later and with all that was done to messages since.
func (w *walk) entries() ([]skein.Entry, error) {
	first := map[string]bool{}
	var ids []string
	for _, x := range w.said {
		if !x.p.piece && x.message != "" {
			first[x.message] = true
			ids = append(ids, x.message)
		}
	}
	evs, err := w.pieces(ids)
	if err != nil {
		return nil, err
	}
	for _, x := range w.said {
		if !x.p.piece || first[x.message] { // else of an older message
			evs = append(evs, x)
		}
	}
	evs = append(evs, w.marks...)
	slices.SortFunc(evs, func(a, b spoken) int { return int(a.e.Seq - b.e.Seq) })
	evs = slices.CompactFunc(evs, func(a, b spoken) bool { return a.e.Seq == b.e.Seq })
	var f skein.Folder
	for _, x := range evs {
		if err := f.AddAt(x.e, x.p.turn); err != nil {
			return nil, err
		}
	}
	return f.Entries(), nil
}

// pieces returns the said events of messages with these IDs, as their columns
// have them, in no order.
func (w *walk) pieces(messages []string) (all []spoken, err error) {
	if len(messages) == 0 {
		return nil, nil
	}
	p := w.pipe()
	w.collect(p, &all, `e.message = ANY ($5)`, messages)
	return all, p.run()
}

// markKinds picks the events that change how others are read.
const markKinds = `e.kind IN ('rewound', 'compacted', 'amended')`

// collect adds to the pipe the events of all segments for which a condition
// holds; its arguments are $5 and on.
func (w *walk) collect(p *pipe, all *[]spoken, cond string, args ...any) {
	for _, seg := range w.segs {
		p.query(`SELECT `+spokenColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 AND e.seq <= $4 AND `+cond,
			append([]any{string(w.head.User), seg.session, int64(seg.from), int64(seg.to)}, args...), func(r row) error {
				x, err := scanSpoken(r)
				*all = append(*all, x)
				return err
			})
	}
}
