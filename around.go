package skein

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// AroundRecords yields all records of a source file, as [Store.Records] does, but
// goes around those that are damaged, and calls told for them.
func AroundRecords(ctx context.Context, s Store, format, path string, told func(*DamagedRecordsError)) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		next := 0
		for again := true; again; {
			again = false
			for r, err := range s.Records(ctx, format, path, next) {
				var bad *DamagedRecordsError
				if errors.As(err, &bad) && bad.Last >= next {
					told(bad)
					next, again = bad.Last+1, true
					break
				}
				if !yield(r, err) {
					return
				}
				next = r.N + 1
			}
		}
	}
}

// Around returns s, except that reading goes around damage: what Events, Watch,
// Newest and Window give has a stand-in ([DamagedError.StandIn]) in the place of
// each damaged event, and told, unless it is nil, is called for it, maybe more than
// once. It is for readers only: what a writer takes from it would become the truth.
func Around(s Store, told func(SessionID, *DamagedError)) Store {
	if told == nil {
		told = func(SessionID, *DamagedError) {}
	}
	return &around{Store: s, told: told}
}

// AlsoTell returns s so that told is called as well for each damaged event that is
// gone around, if [Around] made s; else s itself.
func AlsoTell(s Store, told func(SessionID, *DamagedError)) Store {
	a, ok := s.(*around)
	if !ok {
		return s
	}
	return Around(a.Store, func(id SessionID, e *DamagedError) {
		a.told(id, e)
		told(id, e)
	})
}

type around struct {
	Store
	told func(SessionID, *DamagedError)

	mu      sync.Mutex
	last    Session // whose messages entries are
	entries []Entry
}

// As implements [Store].
func (a *around) As(u User) Store { return Around(a.Store.As(u), a.told) }

// Events implements [Store].
func (a *around) Events(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error] {
	return a.events(id, after, func(after Seq) iter.Seq2[Event, error] { return a.Store.Events(ctx, id, after) })
}

// Watch implements [Store].
func (a *around) Watch(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error] {
	return a.events(id, after, func(after Seq) iter.Seq2[Event, error] { return a.Store.Watch(ctx, id, after) })
}

// events goes on behind each damaged event.
func (a *around) events(id SessionID, after Seq, from func(Seq) iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for again := true; again; {
			again = false
			for e, err := range from(after) {
				var bad *DamagedError
				if errors.As(err, &bad) && bad.Seq > after {
					a.told(id, bad)
					e, err, again = bad.StandIn(), nil, true
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
func (a *around) Newest(ctx context.Context, id SessionID, n int, before Seq) ([]Entry, error) {
	found, err := a.Store.Newest(ctx, id, n, before)
	if !errors.Is(err, ErrCorrupt) {
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

// folded returns all messages of a session. Those of the last one are kept, for
// readers ask for windows of it.
func (a *around) folded(ctx context.Context, id SessionID) ([]Entry, error) {
	s, err := a.Store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last.ID == s.ID && a.last.Last == s.Last && a.last.Revision == s.Revision {
		return a.entries, nil
	}
	var f Folder
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
func (a *around) Window(ctx context.Context, id SessionID, n int) (all []Event, err error) {
	all, err = a.Store.Window(ctx, id, n)
	if !errors.Is(err, ErrCorrupt) {
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
