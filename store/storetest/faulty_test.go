package storetest_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// faulty returns more stores that break one promise each, as [broken] does.
func faulty() map[string]brokenStore {
	return map[string]brokenStore{
		"loses a blob": {"20 Blobs/bytes in are bytes out", func() skein.Store { return blobless{memory.New()} }},
		"returns events out of order": {"03 Seq is the order/1, 2, 3, no gaps, 1 writer", func() skein.Store {
			return backward{memory.New()}
		}},
		"ignores After": {"05 After is checked/a writer that has not seen the end is told where it is", func() skein.Store {
			return blind{memory.New()}
		}},
		"swallows the error of a commit": {"02 All or none/an event that cannot be stored takes its batch with it", func() skein.Store {
			return silent{memory.New()}
		}},
		"shows another user's session": {"23 A view is one user's/another user's session is not found, by any method", func() skein.Store {
			return open{memory.New()}
		}},
		"has a feed that skips one": {"27 The feed has every event/all sessions' events in the order of storing, then what comes", func() skein.Store {
			return skips{memory.New()}
		}},
		"finds what was deleted": {"09 Delete leaves nothing behind/nothing is found any more", func() skein.Store {
			return &remembers{Store: memory.New()}
		}},
		"has a list that never ends": {"24 Lists/pages give each session once", func() skein.Store { return endless{memory.New()} }},
		"yields an event twice to a watch": {"14 Watch gives what was, then what comes/what was, then what comes", func() skein.Store {
			return stutters{memory.New()}
		}},
		"returns the oldest for the newest": {"07 Newest N/the latest, in order", func() skein.Store { return oldest{memory.New()} }},
		"loses a connection to whoever gives up": {"30 Whoever gives up breaks nothing/at the beginning of a read, and later reads work", func() skein.Store {
			return &leaks{Store: memory.New()}
		}},
		"lets an old lease write once nobody holds one": {"06 A stale lease cannot write/given back, anybody may write", func() skein.Store {
			s := memory.New()
			return pardons{s, s}
		}},
		"ends another's lease with an old one": {"06 A stale lease cannot write/taking over ends the other's turn", func() skein.Store {
			s := memory.New()
			return &hasty{Store: s, Leases: s, held: map[skein.SessionID]skein.Lease{}}
		}},
		"answers a repeated batch with its end": {"04 Same client ID twice is one event/the same answer, whatever has come since", func() skein.Store {
			return vague{memory.New()}
		}},
		"finds projects by their beginning": {"24 Lists/each field of a filter", func() skein.Store { return near{memory.New()} }},
		"pages with the message that it pages before": {"07 Newest N/paging back gives every message once", func() skein.Store {
			return overlaps{memory.New()}
		}},
		"forgets what was compacted": {"07 Newest N/what was amended, rewound and compacted", func() skein.Store {
			return longwinded{memory.New()}
		}},
		"forgets the usage of what is binned": {"10 Nothing is deleted by itself/the bin hides and keeps", func() skein.Store { return thrifty{memory.New()} }},
		"reads a seq that it reads after in a fork": {"08 Fork is a pointer/at any seq it shows what the parent had there", func() skein.Store {
			return inclusive{memory.New()}
		}},
		"reads after it was closed": {"17 After Close every method says closed/every method says closed", func() skein.Store {
			return undead{memory.New()}
		}},
	}
}

// A blobless store returns the beginning of a blob.
type blobless struct{ skein.Store }

func (s blobless) Unwrap() skein.Store { return s.Store }

func (s blobless) Blob(ctx context.Context, id skein.SessionID, h skein.Hash) ([]byte, error) {
	b, err := s.Store.Blob(ctx, id, h)
	return b[:len(b)/2], err
}

// A backward store returns a session's events from the last to the first.
type backward struct{ skein.Store }

func (s backward) Unwrap() skein.Store { return s.Store }

func (s backward) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		var all []skein.Event
		for e, err := range s.Store.Events(ctx, id, after) {
			if err != nil {
				yield(e, err)
				return
			}
			all = append(all, e)
		}
		for _, e := range slices.Backward(all) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// A blind store takes a batch whatever its writer has seen.
type blind struct{ skein.Store }

func (s blind) Unwrap() skein.Store { return s.Store }

func (s blind) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	batches = slices.Clone(batches)
	for i := range batches {
		batches[i].After = 0
	}
	return s.Store.Append(ctx, batches...)
}

// A silent store says that everything was stored.
type silent struct{ skein.Store }

func (s silent) Unwrap() skein.Store { return s.Store }

func (s silent) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	rs, err := s.Store.Append(ctx, batches...)
	if err != nil {
		rs = make([]skein.Receipt, len(batches))
	}
	return rs, nil
}

// An open store shows everybody every session.
type open struct{ skein.Store }

func (s open) Unwrap() skein.Store { return s.Store }

func (s open) As(skein.User) skein.Store { return s }

// A skips store leaves an event out of its feed.
type skips struct{ skein.Store }

func (s skips) Unwrap() skein.Store { return s.Store }

func (s skips) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		n := 0
		for f, err := range skein.FeedOf(s.Store).Feed(ctx, after) {
			if n++; n != 3 && !yield(f, err) {
				return
			}
		}
	}
}

// A remembers store goes on finding what it has found.
type remembers struct {
	skein.Store

	mu    sync.Mutex
	found []skein.Hit
}

func (s *remembers) Unwrap() skein.Store { return s.Store }

func (s *remembers) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	r, err := s.Store.Search(ctx, q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.found = append(s.found, r.Hits...); len(r.Hits) == 0 {
		r.Hits = slices.Clone(s.found)
	}
	return r, err
}

// An endless store begins its list again.
type endless struct{ skein.Store }

func (s endless) Unwrap() skein.Store { return s.Store }

func (s endless) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		for ctx.Err() == nil {
			for x, err := range s.Store.Sessions(ctx, f) {
				if !yield(x, err) {
					return
				}
			}
		}
	}
}

// A stutters store yields an event twice.
type stutters struct{ skein.Store }

func (s stutters) Unwrap() skein.Store { return s.Store }

func (s stutters) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for e, err := range s.Store.Watch(ctx, id, after) {
			if !yield(e, err) || e.Seq%5 == 0 && !yield(e, err) {
				return
			}
		}
	}
}

// An oldest store returns the first messages.
type oldest struct{ skein.Store }

func (s oldest) Unwrap() skein.Store { return s.Store }

func (s oldest) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	all, err := s.Store.Newest(ctx, id, 1000, before)
	return all[:min(n, len(all))], err
}

// A leaks store has few connections, and gets none back from a caller that gave up.
type leaks struct {
	skein.Store
	lost atomic.Int32
}

func (s *leaks) Unwrap() skein.Store { return s.Store }

func (s *leaks) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	if s.lost.Load() > 3 {
		return skein.Session{}, errors.New("no connection is free")
	}
	select {
	case <-ctx.Done():
		s.lost.Add(1)
		return skein.Session{}, ctx.Err()
	default:
		return s.Store.Session(ctx, id)
	}
}

// An undead store goes on reading when it is closed.
type undead struct{ skein.Store }

func (s undead) Unwrap() skein.Store { return s.Store }

func (undead) Close() error { return nil }

// A pardons store takes a stale fencing number for none once no lease is held.
type pardons struct {
	skein.Store
	skein.Leases
}

func (s pardons) Unwrap() skein.Store { return s.Store }

func (s pardons) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	rs, err := s.Store.Append(ctx, batches...)
	if len(batches) != 1 || batches[0].Fence == 0 || !errors.Is(err, skein.ErrFenced) {
		return rs, err
	}
	b := batches[0]
	b.Fence = 0
	return s.Store.Append(ctx, b) // which is refused while somebody holds the lease
}

// A vague store answers a batch that it has with the session's newest seqs.
type vague struct{ skein.Store }

func (s vague) Unwrap() skein.Store { return s.Store }

func (s vague) Append(ctx context.Context, batches ...skein.Batch) ([]skein.Receipt, error) {
	rs, err := s.Store.Append(ctx, batches...)
	for i, r := range rs {
		if r.New == 0 {
			for n := range r.Seqs {
				rs[i].Seqs[n] = r.Last - skein.Seq(len(r.Seqs)-1-n)
			}
		}
	}
	return rs, err
}

// A near store finds the sessions of folders whose path begins as the project's.
type near struct{ skein.Store }

func (s near) Unwrap() skein.Store { return s.Store }

func (s near) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	project := f.Project
	if f.Project = ""; project == "" || f.Repository != "" {
		f.Project = project
		return s.Store.Sessions(ctx, f)
	}
	return func(yield func(skein.Session, error) bool) {
		for one, err := range s.Store.Sessions(ctx, f) {
			if (err != nil || strings.HasPrefix(one.Project, project)) && !yield(one, err) {
				return
			}
		}
	}
}

// An overlaps store pages backward with the message that the last page began with.
type overlaps struct{ skein.Store }

func (s overlaps) Unwrap() skein.Store { return s.Store }

func (s overlaps) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	if before > 0 {
		before++
	}
	return s.Store.Newest(ctx, id, n, before)
}

// A thrifty store counts what is in the bin as never used.
type thrifty struct{ skein.Store }

func (s thrifty) Unwrap() skein.Store { return s.Store }

func (s thrifty) Usage(ctx context.Context, q skein.UsageQuery) ([]skein.UsageRow, error) {
	rows, err := s.Store.Usage(ctx, q)
	if q.By != skein.BySession {
		return rows, err
	}
	return slices.DeleteFunc(rows, func(r skein.UsageRow) bool {
		at, err := s.Session(ctx, skein.SessionID(r.Of))
		return err == nil && at.Binned != 0
	}), err
}

// An inclusive store reads on in a fork at the seq that the reader has already, where that
// is inherited.
type inclusive struct{ skein.Store }

func (s inclusive) Unwrap() skein.Store { return s.Store }

func (s inclusive) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	if at, err := s.Session(ctx, id); err == nil && after > 0 && at.Parent.Why == skein.Fork && after <= at.Parent.Seq {
		after--
	}
	return s.Store.Events(ctx, id, after)
}

// A hasty store gives back whatever lease a session has.
type hasty struct {
	skein.Store
	skein.Leases
	mu   sync.Mutex
	held map[skein.SessionID]skein.Lease
}

func (s *hasty) Unwrap() skein.Store { return s.Store }

func (s *hasty) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (skein.Lease, error) {
	l, err := s.Leases.Acquire(ctx, id, r)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held[id] = l
	}
	return l, err
}

func (s *hasty) Release(ctx context.Context, l skein.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, ok := s.held[l.Session]; ok {
		l = now
	}
	return s.Leases.Release(ctx, l)
}

// A longwinded store does not say which messages a summary stands for.
type longwinded struct{ skein.Store }

func (s longwinded) Unwrap() skein.Store { return s.Store }

func (s longwinded) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	all, err := s.Store.Newest(ctx, id, n, before)
	for i := range all {
		all[i].Compacted = false
	}
	return all, err
}
