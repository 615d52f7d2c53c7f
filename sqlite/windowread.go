package sqlite

import (
	"database/sql/driver"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// suffix takes the said events, from the end back, until there are enough
// messages for every provider or no more.
func (w *window) suffix() error {
	floor := slices.Min(w.covers)
	w.cut = math.MaxInt64
	for _, r := range slices.Backward(w.line) {
		if r.To <= floor {
			break
		}
		at, err := w.lastSaid(r.To)
		if err != nil {
			return err
		}
		for from := max(r.From, floor); at > from; {
			if at, err = w.takeBack(at, from, w.n+w.n/8+8); err != nil {
				return err
			}
			if at <= from {
				break
			}
			if enough, err := w.enough(); err != nil || enough {
				return err
			}
		}
	}
	w.cut = floor
	return nil
}

// lastSaid returns the place of the last said event up to a place.
func (w *window) lastSaid(upto skein.Seq) (skein.Seq, error) {
	if upto == w.head.Last {
		return w.head.said, nil
	}
	var kind string
	var prev int64
	_, err := w.conn.one(`SELECT kind, prev FROM events WHERE session = ? AND seq = ?`, []any{w.segment(upto).session, int64(upto)}, &kind, &prev)
	if skein.Kind(kind) == skein.KindSaid {
		return upto, err
	}
	return skein.Seq(prev), err
}

// takeBack takes the said events from the one at a place back, n of them at
// most, and returns the place of the next one. What lies at or before from it
// does not take.
func (w *window) takeBack(at, from skein.Seq, n int) (skein.Seq, error) {
	for n > 0 && at > from {
		seg := w.segment(at)
		var got []spoken
		err := w.conn.query(`WITH RECURSIVE back (seq) AS (
				SELECT ?1 UNION ALL
				SELECT e.prev FROM back b JOIN events e ON e.session = ?2 AND e.seq = b.seq WHERE e.prev > ?3 LIMIT ?4)
			`+selectSpoken+`FROM back b CROSS JOIN events e ON e.session = ?2 AND e.seq = b.seq`,
			[]any{int64(at), seg.session, int64(max(from, seg.from)), n}, func(row []driver.Value) error {
				x, err := w.s.scanSpoken(row)
				got = append(got, x)
				return err
			})
		if err != nil {
			return 0, err
		}
		if len(got) == 0 {
			return 0, fmt.Errorf("event %d: %w", at, skein.ErrCorrupt)
		}
		for _, x := range got {
			if err := w.take(x); err != nil {
				return 0, err
			}
			w.cut = min(w.cut, x.e.Seq-1)
		}
		at, n = got[len(got)-1].p.prev, n-len(got)
	}
	return at, nil
}

// take takes a said event, with all pieces of its message.
func (w *window) take(x spoken) error {
	if x.e.Kind != skein.KindSaid { // its message was deleted in the shell
		return nil
	}
	w.taken[x.e.Seq] = x.e
	if x.message == "" || w.whole[x.message] {
		return nil
	}
	w.whole[x.message] = true
	pieces, err := w.pieces(x.message)
	for _, p := range pieces {
		w.taken[p.e.Seq] = p.e
	}
	return err
}

// takeAt takes the event at a place.
func (w *window) takeAt(seq skein.Seq) (e skein.Event, err error) {
	if e, ok := w.taken[seq]; ok {
		return e, nil
	}
	found := false
	err = w.conn.query(selectEvent+`WHERE e.session = ? AND e.seq = ?`, []any{w.segment(seq).session, int64(seq)}, func(row []driver.Value) error {
		found = true
		e, _, err = w.s.scanEvent(row)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("event %d: %w", seq, skein.ErrCorrupt)
	}
	w.taken[seq] = e
	return e, err
}

// enough reports whether what was taken is n messages after the cut, whatever
// provider they are for.
func (w *window) enough() (bool, error) {
	for _, covered := range w.covers {
		entries, err := w.entriesAfter(covered)
		if err != nil {
			return false, err
		}
		n := 0
		for i := range entries {
			if e := &entries[i]; e.Seq > w.cut {
				n += weight(&e.Message)
			}
		}
		if n < w.n {
			return false, nil
		}
	}
	return true, nil
}

// entriesAfter returns the messages of the said events on the line that were
// taken and lie after a place, as they stand now.
func (w *window) entriesAfter(covered skein.Seq) ([]skein.Entry, error) {
	if err := w.amended(); err != nil {
		return nil, err
	}
	var f skein.Folder
	for _, e := range w.inOrder() {
		if (e.Kind == skein.KindSaid && e.Seq > covered || e.Kind == skein.KindAmended) && w.onLine(e.Seq) {
			if err := f.Add(e); err != nil {
				return nil, err
			}
		}
	}
	return f.Entries(), nil
}

// amended takes what was done to the events taken.
func (w *window) amended() error {
	for _, m := range w.amends {
		if _, ok := w.taken[m.amends]; ok {
			if _, err := w.takeAt(m.seq); err != nil {
				return err
			}
		}
	}
	return nil
}

// weight returns how many messages m is at least in any provider's context: 2
// with the results of its calls, 0 if nothing may be left of it or it may be
// one of the system messages at the beginning.
func weight(m *skein.Message) (n int) {
	if m.Role == skein.RoleSystem {
		return 0
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == skein.PartCall && p.Call != nil && m.Role == skein.RoleAssistant:
			return 2
		case p.Kind == skein.PartFile && p.File != nil,
			(p.Kind == skein.PartText || p.Kind == skein.PartSummary) && strings.TrimSpace(p.Text.UTF8()) != "":
			n = 1
		}
	}
	return n
}
