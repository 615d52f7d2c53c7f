package web

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/lenient"
)

const (
	windowSize   = 60    // messages of a page, about
	maxWindow    = 400   // even if more results of tools follow each other
	maxReadAhead = 20000 // events that are read for one page
)

// window is a piece of a session: its messages, and the other events between
// them, in order.
type window struct {
	Entries []skein.Entry
	Events  []skein.Event // of other kinds than said
	Before  skein.Seq     // there are earlier messages before this seq; 0: the session begins here
	After   skein.Seq     // there are later messages after this seq; 0: the session ends here
}

// windows reads a session in pieces that keep calls and their results together,
// in time that does not depend on the session's length.
type windows struct {
	ctx   context.Context
	store skein.Store
	id    skein.SessionID
	size  int

	rewound bool // also show what was taken back; otherwise no window consists of only that
}

// legible returns s with placeholders for damaged events, so that they hide
// nothing else.
func legible(s skein.Store) skein.Store {
	return lenient.Store(s, nil)
}

// until reads the messages before a seq; 0 is the session's end.
func (r windows) until(before skein.Seq) (w window, err error) {
	last := skein.Seq(0)
	if before > 0 {
		last, w.After = before-1, before-1
	}
	share := room.Of(r.ctx)
	for was := share.Used(); ; share.Give(share.Used() - was) {
		found, err := r.store.Newest(r.ctx, r.id, r.size+1, before)
		if err != nil {
			return w, err
		}
		if w.Before = 0; len(found) > r.size {
			found = found[1:]
			begin := slices.IndexFunc(found, func(e skein.Entry) bool { return !onlyAnswers(&e.Message) })
			found = found[max(begin, 0):]
			w.Before = found[0].Seq
		}
		if w.Entries = found; w.Before == 0 || r.shows(found) {
			break
		}
		if before = w.Before; last > 0 {
			last = before - 1
		}
	}
	from := skein.Seq(0)
	if w.Before > 0 {
		from = w.Before - 1
	}
	return w, r.between(&w, from, last)
}

// from reads the messages after a seq; 0 is the session's beginning.
func (r windows) from(after skein.Seq) (window, error) {
	w, err := r.messagesFrom(after)
	if err != nil {
		return w, err
	}
	return w, r.between(&w, after, w.After)
}

// messagesFrom is from, without the other events.
func (r windows) messagesFrom(after skein.Seq) (w window, err error) {
	if after > 0 {
		w.Before = after + 1
	}
	share := room.Of(r.ctx)
	for from, was := after, share.Used(); ; share.Give(share.Used() - was) {
		end, err := r.reach(from)
		if err != nil {
			return w, err
		}
		before := skein.Seq(0)
		if w.After = end; end > 0 {
			before = end + 1
		}
		found, err := r.store.Newest(r.ctx, r.id, maxWindow, before)
		if err != nil {
			return w, err
		}
		w.Entries = slices.DeleteFunc(found, func(e skein.Entry) bool { return e.Seq <= from })
		if end == 0 || r.shows(w.Entries) {
			return w, nil
		}
		from = end
	}
}

// shows reports whether any of the entries will be shown.
func (r windows) shows(entries []skein.Entry) bool {
	return r.rewound || slices.ContainsFunc(entries, func(e skein.Entry) bool { return !e.Rewound })
}

// current returns the live part of w. The store says which messages are live;
// for other events, the rewinds before the last live message do. If the session
// goes on after w, what follows that message is known only up to the first
// message taken back or rewind.
func (w window) current() (window, error) {
	if w.After > 0 {
		stands, end := skein.Seq(0), w.After+1
		for _, e := range slices.Backward(w.Entries) {
			if !e.Rewound {
				stands = e.Seq
				break
			}
			end = e.Seq
		}
		for _, e := range w.Events {
			if e.Kind == skein.KindRewound && e.Seq > stands {
				end = min(end, e.Seq)
			}
		}
		w.Events = slices.DeleteFunc(w.Events, func(e skein.Event) bool { return e.Seq >= end })
	}
	w.Entries = slices.DeleteFunc(w.Entries, func(e skein.Entry) bool { return e.Rewound })
	var err error
	w.Events, err = skein.Unrewound(w.Events)
	return w, err
}

// around reads the messages around a seq.
func (r windows) around(at skein.Seq) (window, error) {
	head := r
	head.size = r.size / 4
	w, err := head.until(at + 1)
	if err != nil {
		return w, err
	}
	return r.from(max(w.Before-1, 0))
}

// reach returns the last seq of a page that begins after a seq; 0 if that is
// the session's end.
func (r windows) reach(after skein.Seq) (skein.Seq, error) {
	seen := map[string]bool{}
	messages, n := 0, 0
	for e, err := range r.store.Events(r.ctx, r.id, after) {
		if err != nil {
			return 0, err
		}
		if n++; n > maxReadAhead {
			return e.Seq, nil
		}
		if e.Kind != skein.KindSaid {
			continue
		}
		m, err := skein.Decode[skein.Message](e)
		if err != nil {
			return 0, err
		}
		if m.ID != "" && seen[m.ID] {
			continue
		}
		if messages >= r.size && !onlyAnswers(&m) || messages >= maxWindow {
			return e.Seq - 1, nil
		}
		seen[m.ID] = true
		messages++
	}
	return 0, nil
}

// between adds the other events after one seq up to another; 0 is the session's
// end.
func (r windows) between(w *window, after, last skein.Seq) error {
	n := 0
	for e, err := range r.store.Events(r.ctx, r.id, after) {
		if err != nil {
			return err
		}
		if n++; last > 0 && e.Seq > last || n > maxReadAhead {
			return nil
		}
		if e.Kind != skein.KindSaid {
			w.Events = append(w.Events, e)
		}
	}
	return nil
}

// onlyAnswers reports whether m has only results of tools.
func onlyAnswers(m *skein.Message) bool {
	for i := range m.Parts {
		if m.Parts[i].Result == nil {
			return false
		}
	}
	return len(m.Parts) > 0
}
