package sqlite

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// The search index is updated after the append, not in it, where it would double the
// append's cost. It is updated indexAfter after the last append, at close, before a
// search, and, if appends go on without a pause, once indexRows events wait.
const (
	indexRows  = 4000
	indexAfter = 250 * time.Millisecond
)

// An indexer updates the index in the background. An append only counts its
// events, and wakes the indexer if it sleeps: waking it every time would cost a
// tenth of the append.
type indexer struct {
	core    *core
	waiting atomic.Int64 // events stored that it has not started on
	last    atomic.Int64 // when events were last added, in nanoseconds since 1970
	awake   atomic.Bool  // it is watching the clock
	wake    chan struct{}
	ctx     context.Context // ends when the indexer is closed
	stop    context.CancelFunc
	done    sync.WaitGroup
}

func newIndexer(c *core) *indexer {
	x := &indexer{core: c, wake: make(chan struct{}, 1)}
	x.ctx, x.stop = context.WithCancel(context.Background())
	x.awake.Store(true) // for what an earlier process left unindexed
	x.done.Go(x.loop)
	return x
}

// add reports that n events were stored. It never blocks.
func (x *indexer) add(n int) {
	x.last.Store(time.Now().UnixNano())
	if x.waiting.Add(int64(n)) < indexRows && !x.awake.CompareAndSwap(false, true) {
		return
	}
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// close ends the indexer; events that still wait are left to the caller.
func (x *indexer) close() {
	x.stop()
	x.done.Wait()
}

func (x *indexer) loop() {
	timer := time.NewTimer(indexAfter)
	defer timer.Stop()
	for {
		select {
		case <-x.ctx.Done():
			return
		case <-x.wake:
			if x.waiting.Load() < indexRows {
				timer.Reset(indexAfter)
				continue
			}
			fed, _ := x.step(x.core.writer.Between, textindex.BusyBytes)
			if x.waiting.Add(-int64(fed)); fed == 0 {
				x.waiting.Store(0) // another process indexed them
			}
			x.awake.Store(true)
			timer.Reset(indexAfter) // this may have been the last append for a long time
		case <-timer.C:
			if pause := time.Since(time.Unix(0, x.last.Load())); pause < indexAfter {
				timer.Reset(indexAfter - pause)
				continue
			}
			x.pause()
			x.awake.Store(false)
			if x.waiting.Load() > 0 && x.awake.CompareAndSwap(false, true) {
				timer.Reset(indexAfter)
			}
		}
	}
}

// pause feeds the index until nothing waits or something is stored.
func (x *indexer) pause() {
	x.waiting.Store(0)
	for more := true; more && x.waiting.Load() == 0; {
		_, more = x.step(x.core.writer.After, textindex.FeedBytes)
	}
	x.core.disk.checkpoint()
	x.core.maintenance.wake()
}

// fed reports whether anything was ever appended.
func (x *indexer) fed() bool { return x.last.Load() != 0 }

// step feeds the index of words once, and that of edits: less, if words waited. It returns
// how many events it indexed the words of, and whether there is more to do now. An error is
// left to the next step: the index is only late, and nothing is lost. If the disk is nearly
// full, the index stays late: it would take the room that deleting needs.
func (x *indexer) step(run func(context.Context, func(*txn.Tx) error) error, bytes int64) (fed int, more bool) {
	if x.core.disk.lookAtRoom(); x.core.disk.tight.Load() {
		return 0, false
	}
	err := run(x.ctx, func(t *txn.Tx) (err error) {
		if fed, more, err = textindex.Feed(t, bytes); err != nil {
			return err
		}
		if fed > 0 {
			bytes /= 4
		}
		rest, err := textindex.FeedEdits(t, x.core.pack, int(bytes))
		more = more || rest
		return err
	})
	if err != nil {
		return textindex.FeedRows, false
	}
	return fed, more
}

// appended reports to the indexer how many events a commit stored.
func (c *core) appended(n int) {
	if n > 0 {
		c.index.add(n)
	}
}

// A projection is made of the events later, not in the append: the index of words, or
// that of edits.
type projection struct {
	waits string // whether events wait for it
	feed  func(*txn.Tx, *pack.Packer) (more bool, err error)
}

// ofWords is the index of what was said.
func ofWords() projection {
	return projection{`SELECT EXISTS (SELECT 1 FROM events WHERE id > (SELECT upto FROM indexed))`, func(t *txn.Tx, _ *pack.Packer) (more bool, err error) {
		_, more, err = textindex.Feed(t, textindex.FeedBytes)
		return more, err
	}}
}

// ofEdits is the index of what calls did to files.
func ofEdits() projection {
	return projection{`SELECT EXISTS (SELECT 1 FROM events WHERE id > (SELECT upto FROM edits_fed))`, func(t *txn.Tx, p *pack.Packer) (bool, error) {
		return textindex.FeedEdits(t, p, textindex.FeedBytes)
	}}
}

// feedSome feeds p with some of the events that wait, and reports whether it can be fed
// with more now.
func (c *core) feedSome(ctx context.Context, p projection) (more bool, err error) {
	if c.disk.lookAtRoom(); c.disk.tight.Load() {
		return false, nil
	}
	err = c.writer.Between(ctx, func(t *txn.Tx) (err error) {
		more, err = p.feed(t, c.pack)
		return err
	})
	return more, err
}

// catchUp feeds p until nothing waits, but for no longer than most; the
// search scans what is left. Errors are not the reader's concern: the disk may
// be read-only, or another process may be writing.
func (c *core) catchUp(ctx context.Context, p projection, most time.Duration) {
	if c.unwritable(ctx) != nil || !c.behind(ctx, p) {
		return
	}
	if c.disk.tight.Load() {
		c.maintenance.wake() // maintenance checks whether there is room again
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan struct{})
	c.catching.Go(func() {
		defer close(done)
		for ctx.Err() == nil {
			if more, err := c.feedSome(ctx, p); err != nil || !more {
				return
			}
		}
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// behind reports whether events wait for p.
func (c *core) behind(ctx context.Context, p projection) bool {
	var waiting int64
	err := c.readers.Read(ctx, func(r *engine.Conn) error {
		_, err := r.One(p.waits, nil, &waiting)
		return err
	})
	return err != nil || waiting != 0
}

// indexAll feeds both indexes until no events wait.
func (c *core) indexAll(ctx context.Context) error {
	for _, p := range []projection{ofWords(), ofEdits()} {
		for more := true; more; {
			var err error
			if more, err = c.feedSome(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}
