package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
)

// chores does in the background what nobody waits for: what is left of deleted
// sessions, what only skein can do after a person used the sqlite3 shell.
type chores struct {
	core *core
	due  chan struct{}
	ctx  context.Context // ends with the store
	stop context.CancelFunc
	done sync.WaitGroup

	merged  time.Time   // when the index was merged last; the loop's own
	deleted atomic.Bool // something was deleted through this handle
}

// restFor is how long the chores wait after they were called, for more of the
// same to come.
const restFor = time.Second

// mergeEvery is how often the index is merged at most.
const mergeEvery = 10 * time.Minute

func newChores(c *core) *chores {
	k := &chores{core: c, due: make(chan struct{}, 1)}
	k.ctx, k.stop = context.WithCancel(context.Background())
	k.done.Go(k.loop)
	return k
}

// wake says that there is something to do. It never waits.
func (k *chores) wake() {
	select {
	case k.due <- struct{}{}:
	default:
	}
}

// wakeFor is wake, of something that was deleted here.
func (k *chores) wakeFor() {
	k.deleted.Store(true)
	k.wake()
}

func (k *chores) close() {
	k.stop()
	k.done.Wait()
}

func (k *chores) loop() {
	if k.core.waiting(k.ctx) {
		k.wake()
	}
	_ = k.core.sweepLocks(k.ctx) //nolint:errcheck // files that stay do no harm
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-k.due:
		case <-k.ctx.Done():
			return
		}
		rest.Reset(restFor)
		select {
		case <-rest.C:
		case <-k.ctx.Done():
			return
		}
		_ = k.do() //nolint:errcheck // they are tried again at the next start
	}
}

// waiting reports whether something was left to do.
func (c *core) waiting(ctx context.Context) bool {
	var n int64
	err := c.readers.with(ctx, func(r *conn) error {
		_, err := r.one(`SELECT EXISTS (SELECT 1 FROM chores) OR EXISTS (SELECT 1 FROM doomed) OR EXISTS (SELECT 1 FROM graves)
			OR EXISTS (SELECT 1 FROM files WHERE format = '')`, nil, &n)
		return err
	})
	return err == nil && n != 0
}

// do does what is due. Merging the index reads and writes all of it, so that
// is done now and then only; the next start does what is left.
func (k *chores) do() error {
	if err := k.core.drainAll(k.ctx); err != nil {
		return err
	}
	if err := k.core.recountAll(k.ctx); err != nil {
		return err
	}
	var asked int64
	err := k.core.readers.with(k.ctx, func(r *conn) error {
		_, err := r.one(`SELECT times FROM chores WHERE name = 'sweep'`, nil, &asked)
		return err
	})
	if err != nil || asked == 0 {
		return err
	}
	if !k.merged.IsZero() && time.Since(k.merged) < mergeEvery {
		return k.core.giveBack(k.ctx)
	}
	if err := k.core.sweep(k.ctx); err != nil {
		return err
	}
	k.merged = time.Now()
	return k.core.write(k.ctx, func(t *tx) error {
		_, _, err := t.exec(`DELETE FROM chores WHERE name = 'sweep' AND times = ?`, asked) // else more was deleted meanwhile
		return err
	})
}

// drainAll does the rest of what was deleted, here or in the shell.
func (c *core) drainAll(ctx context.Context) error {
	for more := true; more; {
		err := c.write(ctx, func(t *tx) (err error) {
			if err = t.bury(); err == nil {
				more, err = t.drain()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mergeFor is how long a process that deleted something and ends merges the
// index for, so that nothing of small stores is left in it. Of large ones the
// next process that lives longer does the rest.
const mergeFor = 500 * time.Millisecond

// tidy is what the chores of a process that lives for a moment come to: the rest
// of what was deleted, its words in the index as far as there is time, and the
// pages that it had.
func (c *core) tidy(ctx context.Context) error {
	if !c.waiting(ctx) {
		return nil
	}
	if err := errors.Join(c.drainAll(ctx), c.recountAll(ctx)); err != nil {
		return err
	}
	if c.chores.deleted.Load() {
		short, cancel := context.WithTimeout(ctx, mergeFor)
		defer cancel()
		_ = c.mergeIndex(short) //nolint:errcheck // it is still due
	}
	return c.giveBack(ctx)
}

// sweepLocks removes the lock files of leases that are over. It does so in a
// transaction, as leases are taken, so that none is just being locked.
func (c *core) sweepLocks(ctx context.Context) error {
	if _, err := os.Stat(c.locks.dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return c.write(ctx, func(t *tx) error {
		keep := map[string]bool{}
		err := t.query(`SELECT session, epoch FROM leases WHERE held = 1`, nil, func(row []driver.Value) error {
			var id string
			var epoch int64
			err := scan(row, []any{&id, &epoch})
			keep[c.locks.name(skein.SessionID(id), skein.Fence(epoch))] = true
			return err
		})
		if err != nil {
			return err
		}
		return c.locks.sweep(keep)
	})
}
