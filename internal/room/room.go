package room

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"
)

const (
	piece    = 256 << 10 // what is taken at once; the first of each share is not counted
	patience = time.Minute
)

// ErrFull says that there is no room now. A caller that gets it from [Share.Try]
// discards what it read, waits, and reads it again.
var ErrFull = errors.New("there is no room now")

// A Room limits the bytes that all its shares hold together. It is safe for use by
// many goroutines.
//
// Shares that grow while they hold something could each wait for what the others hold.
// So a share gets room only if afterwards all shares can still get, one after the
// other, what they were expected to hold (this is the banker's algorithm). The first
// piece of a share is not counted: a share that has no more can always wait.
type Room struct {
	mu      sync.Mutex
	most    int64
	held    int64
	holders map[*Share]bool // those with something that counts
	waiting []*waiter       // in the order in which they came
	short   bool            // one that waits found too few bytes free
	moves   int             // how often room was taken and given back
}

// A waiter is a share's request for room that waits.
type waiter struct {
	share   *Share
	n       int64
	granted chan struct{} // closed when share holds n bytes more
}

// New returns a room of this many bytes. A share that is the only one to hold
// anything may hold more.
func New(most int64) *Room { return &Room{most: most, holders: map[*Share]bool{}} }

// Held returns how many bytes are held.
func (r *Room) Held() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// Share returns a new share of the room, which holds nothing yet.
func (r *Room) Share() *Share { return &Share{room: r} }

// A Share is what one user holds of a [Room]. A nil Share has no limit. It is safe
// for use by many goroutines.
type Share struct {
	room *Room // its mutex guards the other fields

	used     int64
	taken    int64 // from the room: what is used, in pieces, without the first
	expected int64 // how much used may become
	refused  int64 // how much used would be with what did not fit last

	limit time.Duration // how long one wait may take; 0 is as long as others come and go
}

// Limit says how long s waits for room at a time, even if room is taken and given
// back meanwhile; 0 means no such limit.
func (s *Share) Limit(d time.Duration) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.limit = d
}

// Expect says that s will hold up to n bytes. It may hold more, but for that it may
// have to wait while it holds something, for others that do so, too.
func (s *Share) Expect(n int64) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.expected = n
}

// Used returns how many bytes s holds.
func (s *Share) Used() int64 {
	if s == nil {
		return 0
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	return s.used
}

// Try holds n bytes more. The error is [ErrFull].
func (s *Share) Try(n int64) error {
	if s == nil {
		return nil
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	if !s.room.admits(s, n) {
		s.refused = s.used + n
		return ErrFull
	}
	s.add(n)
	return nil
}

// Take holds n bytes more, and waits for room as long as room is taken and given
// back. If nothing of that happens for a minute, or [Share.Limit] is over, it returns
// [ErrFull]. Other errors are those of ctx.
func (s *Share) Take(ctx context.Context, n int64) error {
	if s == nil {
		return nil
	}
	w, moves, limit := s.room.ask(s, n)
	select {
	case <-w.granted:
		return nil
	default:
	}
	timer := time.NewTimer(cmp.Or(limit, patience))
	defer timer.Stop()
	for {
		select {
		case <-w.granted:
			return nil
		case <-ctx.Done():
			return s.room.withdraw(w, ctx.Err())
		case <-timer.C:
			now := s.room.moved()
			if now == moves || limit > 0 {
				return s.room.withdraw(w, ErrFull)
			}
			moves = now
			timer.Reset(patience)
		}
	}
}

// Again gives back all but used bytes and waits for room for what [Share.Try]
// refused, so that the same can be tried again: then it fits. Its errors are those
// of [Share.Take].
func (s *Share) Again(ctx context.Context, used int64) error {
	s.room.mu.Lock()
	n := max(0, s.refused-used)
	s.room.mu.Unlock()
	s.Give(s.Used() - used) // others may wait for this
	if err := s.Take(ctx, n); err != nil {
		return err
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.used = used
	return nil
}

// Give gives n bytes back.
func (s *Share) Give(n int64) {
	if s == nil {
		return
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.used = max(0, s.used-n)
	s.take(pieces(s.used) - s.taken)
	s.room.grant()
}

// LetGo gives back everything that is held.
func (s *Share) LetGo() { s.Give(s.Used()) }

// add holds n bytes more.
func (s *Share) add(n int64) {
	s.used += n
	s.take(max(0, pieces(s.used)-s.taken))
}

// take takes n bytes from the room, or gives them back if n is negative.
func (s *Share) take(n int64) {
	if n == 0 {
		return
	}
	s.taken += n
	s.room.held += n
	s.room.moves++
	if s.taken > 0 {
		s.room.holders[s] = true
	} else {
		delete(s.room.holders, s)
	}
}

// pieces returns how much of n used bytes counts.
func pieces(n int64) int64 { return (max(0, n-piece) + piece - 1) / piece * piece }

// ask asks for n bytes for s, which it may get at once, and returns the number of
// moves so far, and how long s may wait.
func (r *Room) ask(s *Share, n int64) (w *waiter, moves int, limit time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w = &waiter{s, n, make(chan struct{})}
	r.waiting = append(r.waiting, w)
	r.grant()
	return w, r.moves, s.limit
}

// moved returns the number of moves so far.
func (r *Room) moved() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moves
}

// withdraw removes w and returns why, or nil if it was granted meanwhile.
func (r *Room) withdraw(w *waiter, why error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.waiting, w)
	if i < 0 {
		return nil
	}
	r.waiting = slices.Delete(r.waiting, i, i+1)
	w.share.refused = w.share.used + w.n
	r.grant() // others may have waited behind it
	return why
}

// grant gives room to those that wait, in their order.
func (r *Room) grant() {
	r.short = false
	r.waiting = slices.DeleteFunc(r.waiting, func(w *waiter) bool {
		if !r.admits(w.share, w.n) {
			r.short = r.short || !r.has(w.share, w.n)
			return false
		}
		w.share.add(w.n)
		close(w.granted)
		return true
	})
}

// has reports whether n bytes more for s are free. If nobody else holds anything,
// they are.
func (r *Room) has(s *Share, n int64) bool {
	more := pieces(s.used+n) - s.taken
	return more <= 0 || r.held+more <= r.most || r.held == s.taken
}

// admits reports whether s may hold n bytes more now.
func (r *Room) admits(s *Share, n int64) bool {
	switch more := pieces(s.used+n) - s.taken; {
	case more <= 0:
		return true
	case !r.has(s, n), s.taken == 0 && r.short: // a share that holds nothing does not overtake
		return false
	default:
		return r.safe(s, more)
	}
}

// safe reports whether all can still get what they were expected to hold, in some
// order, if s takes this much more.
func (r *Room) safe(s *Share, more int64) bool {
	type holder struct{ holds, lacks int64 }
	all := []holder{{s.taken + more, max(0, pieces(s.expected)-s.taken-more)}}
	for h := range r.holders {
		if h != s {
			all = append(all, holder{h.taken, max(0, pieces(h.expected)-h.taken)})
		}
	}
	slices.SortFunc(all, func(a, b holder) int { return cmp.Compare(a.lacks, b.lacks) })
	free := r.most - r.held - more
	for _, h := range all[:len(all)-1] { // the last one is then alone
		if h.lacks > free {
			return false
		}
		free += h.holds
	}
	return true
}

// Kept yields what all yields, and takes as many bytes for each value as size says,
// for a caller that keeps all values. Its errors are those of all and of
// [Share.Take].
func Kept[T any](ctx context.Context, all iter.Seq2[T, error], size func(T) int) iter.Seq2[T, error] {
	s := Of(ctx)
	return func(yield func(T, error) bool) {
		for x, err := range all {
			if err == nil {
				err = s.Take(ctx, int64(size(x)))
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

type key struct{}

// With returns a context that has the share s.
func With(ctx context.Context, s *Share) context.Context { return context.WithValue(ctx, key{}, s) }

// Of returns the share of ctx; nil if it has none.
func Of(ctx context.Context) *Share {
	s, _ := ctx.Value(key{}).(*Share)
	return s
}
