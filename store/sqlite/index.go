package sqlite

import (
	"context"
	"database/sql/driver"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// The search index is updated after the append, not in it, where it would double the
// append's cost. It is updated indexAfter after the last append, at close, before a
// search, and, if appends go on without a pause, once indexRows events wait.
const (
	indexRows  = 4000
	indexAfter = 250 * time.Millisecond

	feedRows  = 500       // at most, in one transaction
	feedBytes = 384 << 10 // of text; takes roughly 40 ms
	busyBytes = 192 << 10 // the same while other jobs wait
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
			fed, _ := x.step(x.core.writer.Between, busyBytes)
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
		_, more = x.step(x.core.writer.After, feedBytes)
	}
	x.core.disk.checkpoint()
	x.core.maintenance.wake()
}

// fed reports whether anything was ever appended.
func (x *indexer) fed() bool { return x.last.Load() != 0 }

// step feeds the index once and returns how many events it indexed, and whether
// there is more to do now. An error is left to the next step: the index is only
// late, and nothing is lost. If the disk is nearly full, the index stays late:
// it would take the room that deleting needs.
func (x *indexer) step(run func(context.Context, func(*txn.Tx) error) error, bytes int64) (fed int, more bool) {
	if x.core.disk.lookAtRoom(); x.core.disk.tight.Load() {
		return 0, false
	}
	err := run(x.ctx, func(t *txn.Tx) (err error) {
		fed, more, err = feed(t, bytes)
		return err
	})
	if err != nil {
		return feedRows, false
	}
	return fed, more
}

// extraOf returns what a search finds in an event besides its text: a string,
// or nil if there is nothing, or if the text is long: then its passages have it.
func extraOf(f *skein.Facts) any {
	if len(f.Text) > search.LongText {
		return nil
	}
	return engine.OrNull(search.Extra(f.Text))
}

// appended reports to the indexer how many events a commit stored.
func (c *core) appended(n int) {
	if n > 0 {
		c.index.add(n)
	}
}

// feedIndex indexes some of the events that wait, and reports whether more can
// be indexed now.
func (c *core) feedIndex(ctx context.Context) (more bool, err error) {
	if c.disk.lookAtRoom(); c.disk.tight.Load() {
		return false, nil
	}
	err = c.writer.Between(ctx, func(t *txn.Tx) (err error) {
		_, more, err = feed(t, feedBytes)
		return err
	})
	return more, err
}

// feed indexes the next events in the order in which they were stored: at most bytes
// of text, but at least one event, and a long text by itself. Index and watermark are
// committed together.
func feed(t *txn.Tx, bytes int64) (rows int, more bool, err error) {
	var upto, last int64
	if _, err := t.One(`SELECT upto FROM indexed`, nil, &upto); err != nil {
		return 0, false, err
	}
	size, long := int64(0), false
	err = t.Query(`SELECT id, coalesce(octet_length(text), 0), coalesce(octet_length(extra), 0) FROM events WHERE id > ? ORDER BY id LIMIT ?`,
		[]any{upto, feedRows}, func(row []driver.Value) error {
			var id, text, extra int64
			if err := engine.Scan(row, []any{&id, &text, &extra}); err != nil {
				return err
			}
			if size += text + extra; long || rows > 0 && (size > bytes || text > search.LongText) {
				more = true
				return engine.ErrStop
			}
			rows++
			last, long = id, text > search.LongText
			return nil
		})
	if err = engine.Unstop(err); err != nil || rows == 0 {
		return 0, false, err
	}
	columns.CollectFor(size)
	if long {
		done, err := feedPassages(t, last)
		if err != nil || !done {
			return 0, true, err
		}
	} else {
		_, _, err = t.Exec(`INSERT INTO words (rowid, text, extra) SELECT id, text, extra FROM events WHERE id > ? AND id <= ? AND text IS NOT NULL`, upto, last)
	}
	if err != nil {
		return 0, false, err
	}
	_, _, err = t.Exec(`UPDATE indexed SET upto = ?`, last)
	return rows, more || rows == feedRows, err
}

// catchUp feeds the index until nothing waits, but for no longer than most; the
// search scans what is left. Errors are not the reader's concern: the disk may
// be read-only, or another process may be writing.
func (c *core) catchUp(ctx context.Context, most time.Duration) {
	if c.unwritable(ctx) != nil || !c.behind(ctx) {
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
			if more, err := c.feedIndex(ctx); err != nil || !more {
				return
			}
		}
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// behind reports whether events wait for the index.
func (c *core) behind(ctx context.Context) bool {
	var waiting int64
	err := c.readers.Read(ctx, func(r *engine.Conn) error {
		_, err := r.One(`SELECT EXISTS (SELECT 1 FROM events WHERE id > (SELECT upto FROM indexed))`, nil, &waiting)
		return err
	})
	return err != nil || waiting != 0
}

// indexAll feeds the index until no events wait.
func (c *core) indexAll(ctx context.Context) error {
	for {
		if more, err := c.feedIndex(ctx); err != nil || !more {
			return err
		}
	}
}
