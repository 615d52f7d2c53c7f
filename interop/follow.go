package interop

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
)

// A follower reads single events of the store, cheaply if each is soon after
// the one before.
type follower struct {
	store skein.Store
	id    skein.SessionID
	got   skein.Event
	next  func() (skein.Event, error, bool)
	stop  func()
}

// near is how many events are read over rather than asked for anew.
const near = 64

// event returns the event at p.
func (f *follower) event(ctx context.Context, p skein.Place) (skein.Event, error) {
	if f.next == nil || f.id != p.Session || p.Seq < f.got.Seq || p.Seq > f.got.Seq+near {
		f.close()
		f.id, f.got = p.Session, skein.Event{}
		f.next, f.stop = iter.Pull2(f.store.Events(ctx, p.Session, p.Seq-1))
	}
	for f.got.Seq < p.Seq {
		e, err, ok := f.next()
		if err != nil {
			return skein.Event{}, err
		}
		if !ok {
			return skein.Event{}, nil
		}
		f.got = e
	}
	return f.got, nil
}

func (f *follower) close() {
	if f.stop != nil {
		f.stop()
	}
	f.next, f.stop = nil, nil
}
