package postgres

import (
	"context"
	"iter"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/stream"
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
	stop, err := s.startWatching()
	if err != nil {
		return err
	}
	defer stop()
	w := stream.Watched{Session: id, After: after, Wakers: s.wakers, Ending: s.ending, Page: func(after skein.Seq) (page []skein.Event, n int64, err error) {
		err = s.patiently(ctx, func() (err error) {
			page, n, err = s.eventPage(ctx, id, after)
			return err
		})
		return page, n, err
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

const (
	patience  = time.Minute // for the server to become reachable
	patienceA = 20 * time.Millisecond
	patienceZ = 2 * time.Second
)

// patiently runs f, which only reads, until it succeeds, or fails with something other
// than an unreachable server: a lost connection does not end a watch.
func (s *view) patiently(ctx context.Context, f func() error) error {
	wait := patienceA
	for began := time.Now(); ; wait = min(2*wait, patienceZ) {
		err := f()
		if err == nil || !sqlstate.Unreachable(err) || time.Since(began) > patience {
			return err
		}
		if !s.rest(ctx, nil, wait) {
			return ctx.Err()
		}
	}
}
