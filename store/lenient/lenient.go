package lenient

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/skein-dev/skein"
)

// Records yields all records of a source file, as [skein.Sources.Records] does, but
// skips damaged records and calls told for them.
func Records(ctx context.Context, s skein.Store, format, path string, told func(*skein.DamagedRecordsError)) iter.Seq2[skein.Record, error] {
	return Mended(ctx, skein.SourcesOf(s), format, path, 0, func(bad *skein.DamagedRecordsError, _ int) ([]skein.Record, bool) {
		told(bad)
		return nil, true
	})
}

// Mended yields the records of a source file from number n on, as
// [skein.Sources.Records] does, with those that mend returns in place of damaged
// ones, of which next is the first to replace. Where mend returns false, the error
// that names the damaged records comes after what mend returned, and is the last.
func Mended(ctx context.Context, s skein.Sources, format, path string, n int, mend func(bad *skein.DamagedRecordsError, next int) ([]skein.Record, bool)) iter.Seq2[skein.Record, error] {
	return func(yield func(skein.Record, error) bool) {
		next := n
		for again := true; again; {
			again = false
			for r, err := range s.Records(ctx, format, path, next) {
				var bad *skein.DamagedRecordsError
				if !errors.As(err, &bad) || bad.Last < next {
					if !yield(r, err) {
						return
					}
					next = r.N + 1
					continue
				}
				mended, whole := mend(bad, next)
				for _, r := range mended {
					if !yield(r, nil) {
						return
					}
				}
				if !whole {
					yield(skein.Record{}, err)
					return
				}
				next, again = bad.Last+1, true
				break
			}
		}
	}
}

// Store returns a store that reads s despite damage: Events, Watch, Newest and Window
// give a placeholder ([DamagedError.Placeholder]) in place of each damaged event, and
// call told for it, unless told is nil, possibly more than once. It is for readers
// only: a writer would store the placeholders as if they were real events.
func Store(s skein.Store, told func(skein.SessionID, *skein.DamagedError)) skein.Store {
	if told == nil {
		told = func(skein.SessionID, *skein.DamagedError) {}
	}
	return &lenient{Store: s, told: told}
}

// AlsoTell returns a copy of s that also calls told for each damaged event, if
// [Store] made s; otherwise it returns s.
func AlsoTell(s skein.Store, told func(skein.SessionID, *skein.DamagedError)) skein.Store {
	a, ok := s.(*lenient)
	if !ok {
		return s
	}
	return Store(a.Store, func(id skein.SessionID, e *skein.DamagedError) {
		a.told(id, e)
		told(id, e)
	})
}

type lenient struct {
	skein.Store
	told func(skein.SessionID, *skein.DamagedError)

	mu      sync.Mutex
	last    skein.Session // whose messages entries are
	entries []skein.Entry
}

// Unwrap returns the store that a reads.
func (a *lenient) Unwrap() skein.Store { return a.Store }

// As implements [Store].
func (a *lenient) As(u skein.User) skein.Store { return Store(a.Store.As(u), a.told) }

// Events implements [Store].
func (a *lenient) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return a.events(id, after, func(after skein.Seq) iter.Seq2[skein.Event, error] { return a.Store.Events(ctx, id, after) })
}

// Watch implements [Store].
func (a *lenient) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return a.events(id, after, func(after skein.Seq) iter.Seq2[skein.Event, error] { return a.Store.Watch(ctx, id, after) })
}

// events continues after each damaged event.
func (a *lenient) events(id skein.SessionID, after skein.Seq, from func(skein.Seq) iter.Seq2[skein.Event, error]) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for again := true; again; {
			again = false
			for e, err := range from(after) {
				var bad *skein.DamagedError
				if errors.As(err, &bad) && bad.Seq > after {
					a.told(id, bad)
					e, err, again = bad.Placeholder(), nil, true
				}
				if !yield(e, err) {
					return
				}
				if err == nil {
					after = e.Seq
				}
			}
		}
	}
}

// Newest implements [Store].
func (a *lenient) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	found, err := a.Store.Newest(ctx, id, n, before)
	if !errors.Is(err, skein.ErrCorrupt) {
		return found, err
	}
	all, err := a.folded(ctx, id)
	if err != nil {
		return nil, err
	}
	end := len(all)
	for end > 0 && before > 0 && all[end-1].Seq >= before {
		end--
	}
	return all[max(0, end-max(n, 0)):end], nil
}

// folded returns all messages of a session. It caches those of the last session,
// because readers ask for one window of it after another.
func (a *lenient) folded(ctx context.Context, id skein.SessionID) ([]skein.Entry, error) {
	s, err := a.Store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last.ID == s.ID && a.last.Last == s.Last && a.last.Revision == s.Revision {
		return a.entries, nil
	}
	var f skein.EntryBuilder
	for e, err := range a.Events(ctx, id, 0) {
		if err == nil {
			err = f.Add(e)
		}
		if err != nil {
			return nil, err
		}
	}
	a.last, a.entries = s, f.Entries()
	return a.entries, nil
}

// Window implements [Store].
func (a *lenient) Window(ctx context.Context, id skein.SessionID, n int) (all []skein.Event, err error) {
	all, err = a.Store.Window(ctx, id, n)
	if !errors.Is(err, skein.ErrCorrupt) {
		return all, err
	}
	all = nil
	for e, err := range a.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}
