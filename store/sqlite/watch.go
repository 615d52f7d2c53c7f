package sqlite

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/sqlite/host"
)

// Watch implements [skein.Store].
func (s *reads) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		leave, err := s.enter()
		if err != nil {
			skein.Wrapf(&err, "sqlite: watch %s", id)
			yield(skein.Event{}, err)
			return
		}
		stop, err := s.wakers.start()
		leave()
		if err != nil {
			skein.Wrapf(&err, "sqlite: watch %s", id)
			yield(skein.Event{}, err)
			return
		}
		defer stop()
		share := room.Of(ctx)
		first := int64(0) // the session's number: the session may be deleted and begin again
		for {
			changed := s.wakers.wait(id) // before reading, so that no change is missed in between
			was := share.Used()
			page, n, err := s.eventPage(ctx, id, after)
			took := share.Used() - was
			if ctx.Err() != nil {
				return
			}
			if err == nil && first != 0 && n != first {
				err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
			}
			if err != nil {
				skein.Wrapf(&err, "sqlite: watch %s", id)
				yield(skein.Event{}, err)
				return
			}
			first = n
			for _, e := range page {
				if !yield(e, nil) {
					return
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
				return
			}
		}
	}
}

// wakers wake watchers when their sessions change.
type wakers struct {
	core *core

	mu      sync.Mutex
	waiting map[skein.SessionID]chan struct{}
	count   int            // of watchers
	lookout *changeWatcher // for commits by other processes; nil while nobody watches
}

func newWakers(c *core) *wakers {
	return &wakers{core: c, waiting: map[skein.SessionID]chan struct{}{}}
}

// wait returns a channel that is closed at the next wake of id, or of any
// session if id is "".
func (w *wakers) wait(id skein.SessionID) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[id] == nil {
		w.waiting[id] = make(chan struct{})
	}
	return w.waiting[id]
}

// wake wakes all who wait for one of ids, here and in other processes.
func (w *wakers) wake(ids []skein.SessionID) {
	host.TouchWake(w.core.path)
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

// start registers a watcher, and makes sure that from now on commits by other
// processes wake it; stop unregisters it.
func (w *wakers) start() (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count == 0 {
		if w.lookout, err = newChangeWatcher(w.core, w.wakeAll); err != nil {
			return nil, err
		}
	}
	w.count++
	return w.stop, nil
}

func (w *wakers) stop() {
	w.mu.Lock()
	w.count--
	var last *changeWatcher
	if w.count == 0 {
		last, w.lookout = w.lookout, nil
	}
	w.mu.Unlock()
	if last != nil {
		last.close()
	}
}
