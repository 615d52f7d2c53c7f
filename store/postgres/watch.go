package postgres

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
)

// Watch implements [skein.Store]. It reads on from its seq in the session;
// notifications from this process and others only say when to look.
func (s reads) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		if err := s.watch(ctx, id, after, yield); err != nil && ctx.Err() == nil {
			skein.Wrapf(&err, "postgres: watch %s", id)
			yield(skein.Event{}, err)
		}
	}
}

func (s reads) watch(ctx context.Context, id skein.SessionID, after skein.Seq, yield func(skein.Event, error) bool) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	stop := s.wakers.start()
	leave()
	defer stop()
	share := room.Of(ctx)
	first := int64(0) // the session's number: it may be deleted and begin again
	for {
		changed := s.wakers.wait(id) // before reading, so that no change is missed
		was := share.Used()
		var page []skein.Event
		var n int64
		err := s.patiently(ctx, func() (err error) {
			page, n, err = s.eventPage(ctx, id, after)
			return err
		})
		took := share.Used() - was
		if err == nil && first != 0 && n != first {
			err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
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
		case <-s.ending:
		case <-ctx.Done():
			return nil
		}
	}
}

// wakers tells the watchers in this process that sessions have changed.
type wakers struct {
	mu      sync.Mutex
	waiting map[skein.SessionID]chan struct{}
	count   int           // of watchers
	watched chan struct{} // closed when the first watcher starts
}

func newWakers() *wakers {
	return &wakers{waiting: map[skein.SessionID]chan struct{}{}, watched: make(chan struct{})}
}

// wait returns a channel that closes at the next wake of id, or of any session
// if that is "".
func (w *wakers) wait(id skein.SessionID) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] == nil {
		w.waiting[id] = make(chan struct{})
	}
	return w.waiting[id]
}

// wake wakes the watchers that wait for one of ids or for any session.
func (w *wakers) wake(ids []skein.SessionID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range append([]skein.SessionID{""}, ids...) {
		if c := w.waiting[id]; c != nil {
			close(c)
			delete(w.waiting, id)
		}
	}
}

func (w *wakers) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, c := range w.waiting {
		close(c)
		delete(w.waiting, id)
	}
}

// start counts a watcher; stop ends that.
func (w *wakers) start() (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	select {
	case <-w.watched:
	default:
		close(w.watched)
	}
	return w.stop
}

func (w *wakers) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 {
		clear(w.waiting) // nobody waits on these
	}
}

// idle reports whether nobody watches.
func (w *wakers) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count == 0
}
