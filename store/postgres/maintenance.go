package postgres

import (
	"context"
	"errors"
	"time"
)

const (
	choresFirst = 2 * time.Second // after a store was opened
	choresEvery = time.Minute
)

// maintenance is the background work of a store: it empties the purge queue, and
// finishes scrubs that a process that died, or a call whose ctx ended, left undone.
type maintenance struct {
	all  lifecycle
	wake chan struct{}
	done chan struct{}
}

func newMaintenance(c *core) *maintenance {
	return &maintenance{all: lifecycle{&view{core: c}}, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// soon wakes maintenance now.
func (c *maintenance) soon() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// loop runs until the store is closed: after first, then from time to time, and when
// it is woken.
func (c *maintenance) loop(first time.Duration) {
	defer close(c.done)
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-c.all.life.Done():
			return
		case <-c.wake:
		case <-timer.C:
		}
		_ = c.all.maintain(c.all.life) //nolint:errcheck // the next run tries again
		timer.Reset(choresEvery)
	}
}

// maintain does the maintenance that is due. An error in one kind of work does not
// stop the others.
func (s lifecycle) maintain(ctx context.Context) (err error) {
	for _, do := range []func(context.Context) (bool, error){s.drain, s.resumeScrub} {
		for more := true; more; {
			var failed error
			if more, failed = do(ctx); failed != nil {
				err = errors.Join(err, failed)
				break
			}
		}
	}
	return err
}
