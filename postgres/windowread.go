package postgres

import (
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
	var kind skein.Kind
	var prev skein.Seq
	_, err := w.one(`SELECT e.kind, e.prev FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = $3`,
		[]any{string(w.head.User), inSegment(w.segs, upto).session, int64(upto)}, &kind, &prev)
	if kind == skein.KindSaid {
		return upto, err
	}
	return prev, err
}

// takeBack takes the said events from the one at a place back, n of them at
// most, and returns the place of the next one. What lies at or before from it
// does not take.
func (w *window) takeBack(at, from skein.Seq, n int) (skein.Seq, error) {
	for n > 0 && at > from {
		var got []spoken
		p := w.pipe()
		w.chain(p, inSegment(w.segs, at), at, from, n, func(x spoken) error {
			got = append(got, x)
			return nil
		})
		if err := p.run(); err != nil {
			return 0, err
		}
		if len(got) == 0 {
			return 0, fmt.Errorf("event %d: %w", at, skein.ErrCorrupt)
		}
		if err := w.take(got); err != nil {
			return 0, err
		}
		last := got[len(got)-1]
		w.cut = min(w.cut, last.e.Seq-1)
		at, n = last.p.prev, n-len(got)
	}
	return at, nil
}

// take takes said events, with all pieces of their messages.
func (w *window) take(some []spoken) error {
	var ids []string
	for _, x := range some {
		w.taken[x.e.Seq] = x.e
		if x.message != "" && !w.whole[x.message] {
			w.whole[x.message] = true
			ids = append(ids, x.message)
		}
	}
	pieces, err := w.pieces(ids)
	for _, p := range pieces {
		w.taken[p.e.Seq] = p.e
	}
	return err
}

// takeAt takes the event at a place.
func (w *window) takeAt(seq skein.Seq) (e skein.Event, err error) {
	if err := w.takeAll([]skein.Seq{seq}); err != nil {
		return e, err
	}
	return w.taken[seq], nil
}

// takeAll takes the events at places.
func (w *window) takeAll(seqs []skein.Seq) error {
	p, want := w.pipe(), 0
	for _, seg := range w.segs {
		var some []int64
		for _, seq := range seqs {
			if _, ok := w.taken[seq]; !ok && seg.from < seq && seq <= seg.to {
				some = append(some, int64(seq))
			}
		}
		if len(some) == 0 {
			continue
		}
		want += len(some)
		p.query(`SELECT `+eventColumns+` FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq = ANY ($3)`, []any{string(w.head.User), seg.session, some}, func(r row) error {
			e, _, err := scanEvent(r)
			w.taken[e.Seq] = e
			want--
			return err
		})
	}
	if want == 0 {
		return nil
	}
	if err := p.run(); err != nil {
		return err
	}
	if want != 0 {
		return fmt.Errorf("session %s: %d of the events %d: %w", w.head.ID, want, seqs, skein.ErrCorrupt)
	}
	return nil
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
	var seqs []skein.Seq
	for _, m := range w.amends {
		if _, ok := w.taken[m.amends]; ok {
			seqs = append(seqs, m.seq)
		}
	}
	return w.takeAll(seqs)
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
