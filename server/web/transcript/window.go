package transcript

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/lenient"
)

const (
	MaxWindow    = 400   // messages of a window, even if more results of tools follow each other
	maxReadAhead = 20000 // events that are read for one page
)

// A Window is a piece of a session: its messages, and the other events between
// them, in order.
type Window struct {
	Entries []skein.Entry
	Events  []skein.Event // of other kinds than said
	Before  skein.Seq     // there are earlier messages before this seq; 0: the session begins here
	After   skein.Seq     // there are later messages after this seq; 0: the session ends here
}

// Windows reads a session in pieces that keep calls and their results together,
// in time that does not depend on the session's length.
type Windows struct {
	Store   skein.Store // see [Legible]
	Session skein.SessionID
	Size    int  // messages, about
	Rewound bool // also show what was taken back; otherwise no window consists of only that
}

// Legible returns s with placeholders for damaged events, so that they hide
// nothing else.
func Legible(s skein.Store) skein.Store {
	return lenient.Store(s, nil)
}

// Whole reads a session as one window, which holds all of it. The error is the store's.
func Whole(ctx context.Context, store skein.Store, id skein.SessionID) (w Window, err error) {
	var b skein.EntryBuilder
	for e, err := range Legible(store).Events(ctx, id, 0) {
		if err == nil {
			err = b.Add(e)
		}
		if err != nil {
			return Window{}, err
		}
		if e.Kind != skein.KindSaid {
			w.Events = append(w.Events, e)
		}
	}
	w.Entries = b.Entries()
	return w, nil
}

// Undone reports whether messages of one were taken back, rather than withdrawn:
// the session counts both, and what was withdrawn is never shown. Of a very long
// session it says yes without looking.
//
// The error is that of the store.
func Undone(ctx context.Context, store skein.Store, one *skein.Session) (bool, error) {
	if one.Undone.Messages == 0 || one.Last > maxReadAhead {
		return one.Undone.Messages > 0, nil
	}
	for e, err := range Legible(store).Events(ctx, one.ID, 0) {
		if err != nil || e.Kind == skein.KindRewound {
			return err == nil, err
		}
	}
	return false, nil
}

// Until reads the messages before a seq; 0 is the session's end. The errors are
// the store's.
func (r Windows) Until(ctx context.Context, before skein.Seq) (w Window, err error) {
	last := skein.Seq(0)
	if before > 0 {
		last, w.After = before-1, before-1
	}
	share := room.Of(ctx)
	for was := share.Used(); ; share.Give(share.Used() - was) {
		found, err := r.Store.Newest(ctx, r.Session, r.Size+1, before)
		if err != nil {
			return w, err
		}
		if w.Before = 0; len(found) > r.Size {
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
	return w, r.between(ctx, &w, from, last)
}

// From reads the messages after a seq; 0 is the session's beginning. The errors
// are the store's.
func (r Windows) From(ctx context.Context, after skein.Seq) (Window, error) {
	w, err := r.MessagesFrom(ctx, after)
	if err != nil {
		return w, err
	}
	return w, r.between(ctx, &w, after, w.After)
}

// MessagesFrom is From without the other events. The errors are the store's.
func (r Windows) MessagesFrom(ctx context.Context, after skein.Seq) (w Window, err error) {
	if after > 0 {
		w.Before = after + 1
	}
	share := room.Of(ctx)
	for from, was := after, share.Used(); ; share.Give(share.Used() - was) {
		end, err := r.reach(ctx, from)
		if err != nil {
			return w, err
		}
		before := skein.Seq(0)
		if w.After = end; end > 0 {
			before = end + 1
		}
		found, err := r.Store.Newest(ctx, r.Session, MaxWindow, before)
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
func (r Windows) shows(entries []skein.Entry) bool {
	return r.Rewound || slices.ContainsFunc(entries, func(e skein.Entry) bool { return !e.Rewound })
}

// current returns the live part of w. The store says which messages are live;
// for other events, the rewinds before the last live message do. If the session
// continues after w, what follows that message is known only up to the first
// message taken back or rewind.
func (w Window) current() (Window, error) {
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

// Around reads the messages around a seq. The errors are the store's.
func (r Windows) Around(ctx context.Context, at skein.Seq) (Window, error) {
	head := r
	head.Size = r.Size / 4
	w, err := head.Until(ctx, at+1)
	if err != nil {
		return w, err
	}
	return r.From(ctx, max(w.Before-1, 0))
}

// reach returns the last seq of a page that begins after a seq; 0 if that is
// the session's end.
func (r Windows) reach(ctx context.Context, after skein.Seq) (skein.Seq, error) {
	seen := map[string]bool{}
	messages, n := 0, 0
	for e, err := range r.Store.Events(ctx, r.Session, after) {
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
		if messages >= r.Size && !onlyAnswers(&m) || messages >= MaxWindow {
			return e.Seq - 1, nil
		}
		seen[m.ID] = true
		messages++
	}
	return 0, nil
}

// between adds the other events after one seq up to another; 0 is the session's
// end.
func (r Windows) between(ctx context.Context, w *Window, after, last skein.Seq) error {
	n := 0
	for e, err := range r.Store.Events(ctx, r.Session, after) {
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
