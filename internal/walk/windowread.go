package walk

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// suffix takes the said events, from the end backward, until there are enough messages
// for every provider or no more events.
func (w *windowWalk) suffix() error {
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

// lastSaid returns the seq of the last said event up to a seq.
func (w *windowWalk) lastSaid(upto skein.Seq) (skein.Seq, error) {
	if upto == w.Last {
		return w.Said, nil
	}
	kind, prev, err := w.log.Place(w.Segments.Of(upto), upto)
	if kind == skein.KindSaid {
		return upto, err
	}
	return prev, err
}

// takeBack takes at most n said events, from the one at at backward, and returns the
// seq of the next one. It does not take events at or before from.
func (w *windowWalk) takeBack(at, from skein.Seq, n int) (skein.Seq, error) {
	for n > 0 && at > from {
		seg := w.Segments.Of(at)
		seg.From = max(seg.From, from)
		var got []Said
		_, err := back(w.log, seg, at, min(n, maxBack), func(x Said) bool {
			got = append(got, x)
			return true
		})
		if err != nil {
			return 0, err
		}
		if err := w.take(got...); err != nil {
			return 0, err
		}
		last := got[len(got)-1]
		w.cut = min(w.cut, last.Seq-1)
		at, n = last.Prev, n-len(got)
	}
	return at, nil
}

// take takes said events, with all pieces of their messages.
func (w *windowWalk) take(some ...Said) error {
	var ids []string
	for _, x := range some {
		if x.Kind != skein.KindSaid { // its message was deleted by hand
			continue
		}
		w.add(x.Event)
		if x.Message != "" && !w.whole[x.Message] {
			w.whole[x.Message] = true
			ids = append(ids, x.Message)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	pieces, err := w.log.Pieces(w.Segments, ids)
	for _, p := range pieces {
		w.add(p.Event)
	}
	return err
}

// takeAt takes the events at seqs.
func (w *windowWalk) takeAt(seqs ...skein.Seq) error {
	seqs = slices.DeleteFunc(seqs, func(seq skein.Seq) bool {
		_, is := w.taken[seq]
		return is
	})
	if len(seqs) == 0 {
		return nil
	}
	found, err := w.log.At(w.Segments, seqs)
	if err != nil {
		return err
	}
	w.add(found...)
	for _, seq := range seqs {
		if _, is := w.taken[seq]; !is {
			return fmt.Errorf("event %d: %w", seq, skein.ErrCorrupt)
		}
	}
	return nil
}

// amended takes the amendments of the events that were taken.
func (w *windowWalk) amended() error {
	var seqs []skein.Seq
	for _, m := range w.amends {
		if _, ok := w.taken[m.Amends]; ok {
			seqs = append(seqs, m.Seq)
		}
	}
	return w.takeAt(seqs...)
}

// enough reports whether what was taken has n messages after the cut, for every
// provider.
func (w *windowWalk) enough() (bool, error) {
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

// entriesAfter returns the messages of the said events on the line that were taken
// and are after a seq, as they were amended.
func (w *windowWalk) entriesAfter(covered skein.Seq) ([]skein.Entry, error) {
	if err := w.amended(); err != nil {
		return nil, err
	}
	var f skein.EntryBuilder
	for _, e := range w.inOrder() {
		if (e.Kind == skein.KindSaid && e.Seq > covered || e.Kind == skein.KindAmended) && w.onLine(e.Seq) {
			if err := f.Add(e); err != nil {
				return nil, err
			}
		}
	}
	return f.Entries(), nil
}

// weight returns the least number of messages that m becomes in any provider's
// context: 2 with the results of its calls, 0 if nothing may be left of it or it may
// be one of the system messages at the beginning.
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
