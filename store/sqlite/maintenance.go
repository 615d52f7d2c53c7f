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
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/purge"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// maintenance does in the background what nobody waits for: removing the rest of
// deleted sessions, and what only skein can do after somebody used the sqlite3 shell.
type maintenance struct {
	cleaner
	due  chan struct{}
	ctx  context.Context // ends when the store is closed
	stop context.CancelFunc
	done sync.WaitGroup

	last    time.Time   // when the file was last swept; only the loop uses it
	deleted atomic.Bool // something was deleted through this handle
}

// restFor is how long maintenance waits after it was woken, for more of the
// same to come.
const restFor = time.Second

// sweepEvery is the shortest time between two sweeps of the file: merging the
// index reads and writes all of it.
const sweepEvery = 10 * time.Minute

func newMaintenance(c *core) *maintenance {
	k := &maintenance{cleaner: cleaner{c}, due: make(chan struct{}, 1)}
	k.ctx, k.stop = context.WithCancel(context.Background())
	k.done.Go(k.loop)
	return k
}

// wake reports that there is something to do. It never blocks.
func (k *maintenance) wake() {
	select {
	case k.due <- struct{}{}:
	default:
	}
}

// wakeFor is wake after something was deleted through this handle.
func (k *maintenance) wakeFor() {
	k.deleted.Store(true)
	k.wake()
}

func (k *maintenance) close() {
	k.stop()
	k.done.Wait()
}

func (k *maintenance) loop() {
	k.disk.keepReserve()
	if k.waiting(k.ctx) {
		k.wake()
	}
	_ = k.sweepLocks(k.ctx) //nolint:errcheck // files that stay do no harm
	rest, again := time.NewTimer(0), time.NewTimer(sweepEvery)
	defer rest.Stop()
	defer again.Stop()
	for {
		select {
		case <-k.due:
		case <-again.C:
		case <-k.ctx.Done():
			return
		}
		rest.Reset(restFor)
		select {
		case <-rest.C:
		case <-k.ctx.Done():
			return
		}
		err := k.do()
		k.disk.keepReserve()
		if err != nil || k.waiting(k.ctx) {
			again.Reset(sweepEvery)
		}
	}
}

// waiting reports whether any maintenance is left to do.
func (c cleaner) waiting(ctx context.Context) bool {
	var n int64
	err := c.readers.Read(ctx, func(r *engine.Conn) error {
		_, err := r.One(`SELECT EXISTS (SELECT 1 FROM maintenance) OR EXISTS (SELECT 1 FROM purge_queue) OR EXISTS (SELECT 1 FROM shell_deletions)
			OR EXISTS (SELECT 1 FROM files WHERE format = '')`, nil, &n)
		return err
	})
	return err == nil && n != 0
}

// do does what is due. It sweeps the file only now and then; the next start
// does what is left.
func (k *maintenance) do() error {
	if !k.waiting(k.ctx) {
		return nil
	}
	// A session that cannot be recounted, or read, must not keep the deleted
	// words of other sessions in the file.
	return errors.Join(k.drainAll(k.ctx), k.recountAll(k.ctx), k.clean())
}

// clean removes what was deleted from the file, now and then.
func (k *maintenance) clean() error {
	if owed, err := k.owed(k.ctx); err != nil || !owed {
		return err
	}
	if !k.last.IsZero() && time.Since(k.last) < sweepEvery {
		_, err := k.giveBack(k.ctx)
		return err
	}
	if err := k.sweep(k.ctx); err != nil {
		return err
	}
	k.last = time.Now()
	return nil
}

// drainAll removes the rest of what was deleted, here or in the shell.
func (c cleaner) drainAll(ctx context.Context) error {
	for more := true; more; {
		err := c.disk.freeStep(ctx, func(t *txn.Tx) (err error) {
			if err = purge.AddTombstones(t); err == nil {
				more, err = purge.Purger{Tx: t}.Drain()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// How long a process that is about to end sweeps the file: one that deleted
// something; one that wrote; one that only read. For large stores, processes
// take turns. In a small store, nothing that was deleted is left, however busy
// the machine is: there a process that deleted something sweeps to the end.
const (
	smallStore = 8 << 20 // bytes

	sweepAfterDelete = 500 * time.Millisecond
	sweepAfterWrite  = 250 * time.Millisecond
	sweepAfterRead   = 40 * time.Millisecond
)

// tidy is the maintenance of a process that lives only for a moment: it removes
// the rest of what was deleted, its words in the index as far as time allows,
// and its free pages.
func (c cleaner) tidy(ctx context.Context) error {
	if !c.waiting(ctx) {
		return nil
	}
	if err := errors.Join(c.drainAll(ctx), c.recountSome(ctx)); err != nil {
		return err
	}
	if c.sweepShortly(ctx) == nil {
		return nil
	}
	_, err := c.giveBack(ctx)
	return err
}

// sweepShortly sweeps the file for a moment; a small one, to the end.
func (c cleaner) sweepShortly(ctx context.Context) error {
	most := sweepAfterRead
	switch {
	case c.maintenance.deleted.Load():
		if info, err := os.Stat(c.path); err == nil && info.Size() <= smallStore {
			return c.sweep(context.WithoutCancel(ctx))
		}
		most = sweepAfterDelete
	case c.index.fed():
		most = sweepAfterWrite
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return c.sweep(ctx)
}

// sweepLocks removes the lock files of leases that are over. It does so in a
// transaction, as leases are acquired in one, so that none is being locked meanwhile.
func (c cleaner) sweepLocks(ctx context.Context) error {
	if _, err := os.Stat(c.locks.Dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return c.write(ctx, func(t *txn.Tx) error {
		keep := map[string]bool{}
		err := t.Query(`SELECT session, epoch FROM leases WHERE held = 1`, nil, func(row []driver.Value) error {
			var id string
			var epoch int64
			err := engine.Scan(row, []any{&id, &epoch})
			keep[c.locks.Name(skein.SessionID(id), skein.Fence(epoch))] = true
			return err
		})
		if err != nil {
			return err
		}
		return c.locks.Sweep(keep)
	})
}
