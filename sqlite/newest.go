package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"github.com/skein-dev/skein"
)

// Newest implements [skein.Store].
//
// Each row names the said event before it, so that what is not said costs
// nothing.
func (s *Store) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (entries []skein.Entry, err error) {
	defer skein.Wrapf(&err, "sqlite: newest %d messages of %s", n, id)
	err = s.read(ctx, func(c *conn) error {
		h, err := s.head(c, id)
		if err != nil || n < 1 {
			return err
		}
		w := walk{s: s, conn: c, head: h}
		if w.segs, err = c.segments(h.n, h.Last); err != nil {
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
	s    *Store
	conn *conn
	head head
	segs []segment
	said []spoken // newest first
}

// A spoken is a said event, or one that changes how others are read.
type spoken struct {
	e       skein.Event
	p       place
	message string // message ID
}

const selectSpoken = `SELECT e.seq, e.at, e.kind, e.client, e.payload, e.text, e.turn, e.prev, e.piece, e.message `

// scanSpoken reads a row of selectSpoken.
func (s *Store) scanSpoken(row []driver.Value) (x spoken, err error) {
	last := len(row) - 1
	x.message, _ = row[last].(string) // NULL is ""
	x.e, x.p, err = s.scanEvent(row[:last])
	return x, err
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
		seg := w.segment(at)
		err = w.conn.query(`WITH RECURSIVE back (seq) AS (
				SELECT ?1 UNION ALL
				SELECT e.prev FROM back b JOIN events e ON e.session = ?2 AND e.seq = b.seq WHERE e.prev > ?3 LIMIT ?4)
			`+selectSpoken+`FROM back b CROSS JOIN events e ON e.session = ?2 AND e.seq = b.seq`,
			[]any{int64(at), seg.session, int64(seg.from), max(8, min(n-firsts, pageRows))}, func(row []driver.Value) error {
				x, err := w.s.scanSpoken(row)
				if err != nil {
					return err
				}
				if firsts == n {
					return errStop
				}
				at = x.p.prev
				if x.e.Kind != skein.KindSaid { // its message was deleted in the shell
					return nil
				}
				w.said = append(w.said, x)
				if !x.p.piece {
					firsts++
				}
				return nil
			})
		err = unstop(err)
	}
	return at <= 0, err
}

// last returns the place of the last said event before a place; 0 if none.
func (w *walk) last(before skein.Seq) (skein.Seq, error) {
	if before <= 0 || before > w.head.Last {
		return w.head.said, nil
	}
	seg := w.segment(before)
	var prev int64
	_, err := w.conn.one(`SELECT prev FROM events WHERE session = ? AND seq = ?`, []any{seg.session, int64(before)}, &prev)
	return skein.Seq(prev), err
}

func (w *walk) segment(seq skein.Seq) segment {
	i := slices.IndexFunc(w.segs, func(s segment) bool { return seq > s.from })
	return w.segs[max(i, 0)]
}

// entries puts the messages together that were read, with the pieces of them
// that stand later and with all that was done to messages since.
func (w *walk) entries() ([]skein.Entry, error) {
	var evs []spoken
	first := map[string]bool{}
	seen := map[skein.Seq]bool{}
	for _, x := range slices.Backward(w.said) {
		if x.p.piece && !first[x.message] {
			continue // of an older message
		}
		if x.message != "" && !first[x.message] {
			first[x.message] = true
			pieces, err := w.pieces(x.message)
			if err != nil {
				return nil, err
			}
			for _, p := range pieces {
				if !seen[p.e.Seq] {
					seen[p.e.Seq] = true
					evs = append(evs, p)
				}
			}
		}
		if !seen[x.e.Seq] {
			seen[x.e.Seq] = true
			evs = append(evs, x)
		}
	}
	marks, err := w.marks()
	if err != nil {
		return nil, err
	}
	evs = append(evs, marks...)
	slices.SortFunc(evs, func(a, b spoken) int { return int(a.e.Seq - b.e.Seq) })
	var f skein.Folder
	for _, x := range evs {
		if err := f.AddAt(x.e, x.p.turn); err != nil {
			return nil, err
		}
	}
	return f.Entries(), nil
}

// pieces returns the said events of a message.
func (w *walk) pieces(message string) ([]spoken, error) {
	return w.collect(func(seg segment) (string, []any) {
		return selectSpoken + `FROM events e INDEXED BY events_by_message WHERE e.session = ? AND e.message = ? AND e.seq > ? AND e.seq <= ?`,
			[]any{seg.session, message, int64(seg.from), int64(seg.to)}
	})
}

// marks returns the events that change how others are read.
func (w *walk) marks() ([]spoken, error) {
	return w.collect(func(seg segment) (string, []any) {
		return selectSpoken + `FROM events e INDEXED BY events_marks WHERE e.session = ? AND e.seq > ? AND e.seq <= ? AND e.kind IN ('rewound', 'compacted', 'amended')`,
			[]any{seg.session, int64(seg.from), int64(seg.to)}
	})
}

func (w *walk) collect(query func(segment) (string, []any)) (all []spoken, err error) {
	for _, seg := range w.segs {
		q, args := query(seg)
		err := w.conn.query(q, args, func(row []driver.Value) error {
			x, err := w.s.scanSpoken(row)
			all = append(all, x)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
