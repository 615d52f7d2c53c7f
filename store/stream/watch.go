package stream

import (
	"context"
	"fmt"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// Wakers tell the watchers in this process that sessions have changed.
type Wakers struct {
	first func() (last func(), err error)

	mu      sync.Mutex
	waiting map[skein.SessionID]chan struct{}
	count   int    // of watchers
	last    func() // to be called when nobody watches any longer
}

// NewWakers returns wakers without watchers. first is called when the first watcher
// starts, and what it returns when the last one has ended; that may be nil.
func NewWakers(first func() (last func(), err error)) *Wakers {
	return &Wakers{first: first, waiting: map[skein.SessionID]chan struct{}{}}
}

// Wait returns a channel that closes at the next wake of id, or of any session if id
// is "".
func (w *Wakers) Wait(id skein.SessionID) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] == nil {
		w.waiting[id] = make(chan struct{})
	}
	return w.waiting[id]
}

// Wake wakes the watchers that wait for one of ids or for any session.
func (w *Wakers) Wake(ids []skein.SessionID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range append([]skein.SessionID{""}, ids...) {
		if c := w.waiting[id]; c != nil {
			close(c)
			delete(w.waiting, id)
		}
	}
}

// WakeAll wakes all watchers.
func (w *Wakers) WakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, c := range w.waiting {
		close(c)
		delete(w.waiting, id)
	}
}

// Start counts a watcher; stop ends that. The error is that of first.
func (w *Wakers) Start() (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		if w.last, err = w.first(); err != nil {
			return nil, err
		}
	}
	w.count++
	return w.stop, nil
}

func (w *Wakers) stop() {
	w.mu.Lock()
	var last func()
	if w.count--; w.count == 0 {
		clear(w.waiting) // nobody waits on these
		last, w.last = w.last, nil
	}
	w.mu.Unlock()
	if last != nil {
		last()
	}
}

// Idle reports whether nobody watches.
func (w *Wakers) Idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count == 0
}

// Watched is a session that is watched. Its watcher has started.
type Watched struct {
	Session skein.SessionID
	After   skein.Seq
	Wakers  *Wakers
	Ending  <-chan struct{} // closes when the store closes: Page then returns an error

	// Page returns the next events after a seq, no events if there are none yet, and the
	// session's number.
	Page func(after skein.Seq) (page []skein.Event, n int64, err error)
}

// Follow yields the events that are stored and those that come, until ctx ends or yield
// returns false; then the error is nil.
//
// The error wraps [skein.ErrNotFound] if the session is deleted, even if another one
// with its ID begins.
func (w *Watched) Follow(ctx context.Context, yield func(skein.Event, error) bool) error {
	share := room.Of(ctx)
	first, after := int64(0), w.After // the number of the session
	for {
		changed := w.Wakers.Wait(w.Session) // before reading, so that no change is missed
		was := share.Used()
		page, n, err := w.Page(after)
		took := share.Used() - was
		if ctx.Err() != nil {
			return nil //nolint:nilerr // nobody waits for the error
		}
		if err == nil && first != 0 && n != first {
			err = fmt.Errorf("session %s %w", w.Session, skein.ErrNotFound)
		}
		if err != nil {
			return err
		}
		first = n
		for _, e := range page {
			if !yield(e, nil) {
				return nil
			}
			after = e.Seq
		}
		share.Give(took)
		if len(page) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-w.Ending:
		case <-ctx.Done():
			return nil
		}
	}
}
