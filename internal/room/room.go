package room

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

const (
	piece    = 256 << 10 // what is taken at once; the first of each share is not counted
	patience = 10 * time.Second
)

// ErrFull says that there is no room now. A caller that gets it from [Share.Try]
// discards what it read, waits, and reads it again.
var ErrFull = errors.New("there is no room now")

// A Room limits the bytes that all its shares hold together. It is safe for use by
// many goroutines.
type Room struct {
	mu    sync.Mutex
	most  int64
	held  int64
	freed chan struct{} // closed when there is more room; nil if nobody waits
}

// New returns a room of this many bytes. A share that is the only one to hold
// anything may hold more.
func New(most int64) *Room { return &Room{most: most} }

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
	room *Room

	mu    sync.Mutex
	used  int64
	taken int64 // from the room: what is used, in pieces, without the first
	want  int64 // how much more than taken what did not fit needs
}

// Used returns how many bytes s holds.
func (s *Share) Used() int64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// Try holds n bytes more. The error is [ErrFull].
func (s *Share) Try(n int64) error {
	if s == nil {
		return nil
	}
	_, err := s.try(n)
	return err
}

// try is Try. If there is no room, it returns a channel that is closed when there may
// be.
func (s *Share) try(n int64) (freed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = 0
	if more := s.used + n - piece - s.taken; more > 0 {
		more = (more + piece - 1) / piece * piece
		if freed := s.room.take(more, s.taken); freed != nil {
			s.want = more
			return freed, ErrFull
		}
		s.taken += more
	}
	s.used += n
	return nil, nil
}

// Take holds n bytes more, and waits for room: at most a few seconds, then it
// returns [ErrFull]. Other errors are those of ctx.
func (s *Share) Take(ctx context.Context, n int64) error {
	if s == nil {
		return nil
	}
	var late <-chan time.Time
	for {
		freed, err := s.try(n)
		if err == nil {
			return nil
		}
		if late == nil {
			t := time.NewTimer(patience)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-freed:
		case <-late:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Again waits for room for what [Share.Try] refused, and goes back to holding used
// bytes, so that the same can be tried again: then it fits. Its errors are those of
// [Share.Take].
func (s *Share) Again(ctx context.Context, used int64) error {
	s.mu.Lock()
	n := s.want + s.taken + piece - s.used // what is used is counted already
	s.mu.Unlock()
	if err := s.Take(ctx, n); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = used
	return nil
}

// Give gives n bytes back.
func (s *Share) Give(n int64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = max(0, s.used-n)
	needs := (max(0, s.used-piece) + piece - 1) / piece * piece
	s.room.give(s.taken - needs)
	s.taken = needs
}

// LetGo gives back everything that is held.
func (s *Share) LetGo() { s.Give(s.Used()) }

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

// take takes n bytes for a share that has some; if there is no room, it returns a
// channel that is closed when there may be.
func (r *Room) take(n, has int64) (freed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held+n <= r.most || r.held == has {
		r.held += n
		return nil
	}
	if r.freed == nil {
		r.freed = make(chan struct{})
	}
	return r.freed
}

func (r *Room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= n
	if r.freed != nil && n > 0 {
		close(r.freed)
		r.freed = nil
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
