package walk

import (
	"github.com/skein-dev/skein"
)

// A NewestLog is what [Newest] needs from a store.
type NewestLog interface {
	SaidLog

	// Marks returns the rewound, compacted and amended events of segs, in any
	// order.
	Marks(segs Segments) ([]Said, error)
}

// Newest returns the newest n messages of a session that begin before a seq, 0 for
// its end, as [skein.Store.Newest] does. Errors are the log's, or wrap
// [skein.ErrInvalid]: a payload that does not fit its kind.
//
// Each row names the said event before it, so that other events cost nothing.
func Newest(l NewestLog, x Extent, n int, before skein.Seq) ([]skein.Entry, error) {
	w := newestWalk{log: l, Extent: x}
	// What was withdrawn is left out, so more may have to be read.
	for want := n; ; want *= 2 {
		done, err := w.back(want, before)
		if err != nil {
			return nil, err
		}
		entries, err := w.entries()
		if err != nil {
			return nil, err
		}
		if len(entries) >= n || done {
			return entries[max(0, len(entries)-n):], nil
		}
	}
}

// A newestWalk goes backward along the said events of a session.
type newestWalk struct {
	log NewestLog
	Extent
	said  []Said // newest first
	marks []Said // nil until they are read
}

// back reads the said events of the newest n messages that begin before a seq, 0 for
// the end; done reports that there are no more.
func (w *newestWalk) back(n int, before skein.Seq) (done bool, err error) {
	w.said = nil
	at, err := w.last(before)
	for firsts := 0; err == nil && at > 0; {
		if firsts == n {
			return false, nil
		}
		at, err = back(w.log, w.Segments.Of(at), at, max(8, min(n-firsts, maxBack)), func(x Said) bool {
			if x.Kind != skein.KindSaid { // its message was deleted by hand
				return true
			}
			w.said = append(w.said, x)
			if !x.Piece {
				firsts++
			}
			return firsts < n
		})
	}
	return at <= 0, err
}

// last returns the seq of the last said event before a seq; 0 if there is none.
func (w *newestWalk) last(before skein.Seq) (skein.Seq, error) {
	if before <= 0 || before > w.Last {
		return w.Said, nil
	}
	_, prev, err := w.log.Place(w.Segments.Of(before), before)
	return prev, err
}

// entries builds the messages that were read, with their later pieces and with
// everything that changed them since.
func (w *newestWalk) entries() (_ []skein.Entry, err error) {
	first := map[string]bool{}
	var ids []string
	for _, x := range w.said {
		if !x.Piece && x.Message != "" {
			first[x.Message] = true
			ids = append(ids, x.Message)
		}
	}
	var all []Said
	if len(ids) > 0 {
		if all, err = w.log.Pieces(w.Segments, ids); err != nil {
			return nil, err
		}
	}
	for _, x := range w.said {
		if !x.Piece || first[x.Message] { // else it belongs to an older message
			all = append(all, x)
		}
	}
	if w.marks == nil {
		marks, err := w.log.Marks(w.Segments)
		if err != nil {
			return nil, err
		}
		w.marks = append([]Said{}, marks...)
	}
	return entriesOf(inOrder(append(all, w.marks...)))
}

func entriesOf(all []Said) ([]skein.Entry, error) {
	var f skein.EntryBuilder
	for _, x := range all {
		if err := f.AddAt(x.Event, x.Turn); err != nil {
			return nil, err
		}
	}
	return f.Entries(), nil
}
