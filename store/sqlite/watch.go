package sqlite

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/host"
	"github.com/skein-dev/skein/store/stream"
)

// Watch implements [skein.Store].
func (s *reads) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		if err := s.watch(ctx, id, after, yield); err != nil {
			skein.Wrapf(&err, "sqlite: watch %s", id)
			yield(skein.Event{}, err)
		}
	}
}

func (s *reads) watch(ctx context.Context, id skein.SessionID, after skein.Seq, yield func(skein.Event, error) bool) error {
	stop, err := s.startWatching()
	if err != nil {
		return err
	}
	defer stop()
	w := stream.Watched{Session: id, After: after, Wakers: s.wakers, Ending: s.ending, Page: func(after skein.Seq) ([]skein.Event, int64, error) {
		return s.eventPage(ctx, id, after)
	}}
	return w.Follow(ctx, yield)
}

// startWatching counts a watcher; stop ends that.
func (s *view) startWatching() (stop func(), err error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.wakers.Start()
}

// newWakers returns wakers that also notice what other processes commit.
func newWakers(c *core) (w *stream.Wakers) {
	w = stream.NewWakers(func() (last func(), err error) {
		l, err := newChangeWatcher(c, w.WakeAll)
		if err != nil {
			return nil, err
		}
		return l.close, nil
	})
	return w
}

// wake wakes all who wait for one of ids, here and in other processes.
func (c *core) wake(ids []skein.SessionID) {
	host.TouchWake(c.path)
	c.wakers.Wake(ids)
}
