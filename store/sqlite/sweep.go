package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A cleaner removes from the file what was deleted.
type cleaner struct{ *core }

// vacuumPages is the most pages that one step frees: some 50 ms. vacuumCost is
// how many bytes of the log each may take: the page that is moved to its place,
// what refers to it, and the pointer map of both.
const (
	vacuumPages = 1000
	vacuumCost  = 4 * 4200
)

// sweep removes what was deleted from the file itself: the index keeps deleted
// words until its segments are merged, the file keeps free pages until it is
// truncated, and the log keeps old pages until it is emptied. It works in steps
// between which others can write.
func (c cleaner) sweep(ctx context.Context) error {
	if c.disk.tight.Load() { // merging needs room
		if _, err := c.giveBack(ctx); err != nil {
			return err
		}
	}
	if err := c.mergeIndex(ctx); err != nil {
		return err
	}
	if emptied, err := c.giveBack(ctx); err != nil || !emptied {
		return err
	}
	return c.disk.freeStep(ctx, func(t *txn.Tx) error { return textindex.SegmentMerger{Tx: t}.Settle() })
}

// Swept implements [skein.Sweeper].
func (s *lifecycle) Swept(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "sqlite: sweep %s", s.path)
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	return cleaner{s.core}.swept(ctx)
}

// Left implements [skein.Sweeper].
func (s *lifecycle) Left(ctx context.Context) (text string, err error) {
	defer skein.Wrapf(&err, "sqlite: what is left in %s", s.path)
	leave, err := s.enter()
	if err != nil {
		return "", err
	}
	defer leave()
	return cleaner{s.core}.left(ctx)
}

// swept sweeps until nothing is left.
func (c cleaner) swept(ctx context.Context) error {
	for pause := time.Duration(0); ; pause = sweepAgain {
		if owed, err := c.owed(ctx); err != nil || !owed {
			return err
		}
		if err := sleep.For(ctx, pause); err != nil {
			return err
		}
		if err := c.sweep(ctx); err != nil && !errors.Is(err, skein.ErrLocked) {
			return err
		}
	}
}

// sweepAgain is how long Swept waits for readers before it tries again.
const sweepAgain = 200 * time.Millisecond

// left says, for people, where bytes of what was deleted still are, and until
// when; "" if there are none.
func (c cleaner) left(ctx context.Context) (string, error) {
	if owed, err := c.owed(ctx); err != nil || !owed {
		return "", err
	}
	log := filepath.Base(c.paths.Names[1])
	who := "a program that is reading it"
	var all []string
	for _, p := range host.Readers(c.paths.Real()) {
		if all = append(all, p.String()); p.PID == os.Getpid() {
			all[len(all)-1] = "this program itself"
		}
	}
	if len(all) > 0 {
		who = strings.Join(all, " and ")
	}
	return fmt.Sprintf("the write-ahead log %s keeps old bytes until %s has finished reading; the next command after that removes them", log, who), nil
}

// giveBack returns free pages and the log to the file system, and reports
// whether the log was emptied.
func (c cleaner) giveBack(ctx context.Context) (emptied bool, err error) {
	for {
		free, most := int64(0), int64(vacuumPages)
		if room, known := host.FreeSpace(filepath.Dir(c.path)); known {
			most = max(1, min(most, room/vacuumCost))
		}
		err := c.disk.freeStep(ctx, func(t *txn.Tx) (err error) {
			free, err = cutFree(t, most)
			return err
		})
		if err != nil {
			return false, err
		}
		if free == 0 { // what the log holds may be pages that the file does not have yet
			err = c.disk.makingRoom(ctx, func() (err error) {
				emptied, err = c.disk.emptyLog()
				return err
			})
			return emptied, err
		}
	}
}

// cutFree truncates the file by at most n free pages and returns how many are left.
func cutFree(t *txn.Tx, n int64) (left int64, err error) {
	var free int64
	if _, err := t.One(`PRAGMA freelist_count`, nil, &free); err != nil || free == 0 {
		return 0, err
	}
	// Each row that the pragma returns is one page.
	for range min(n, free) {
		if err := t.Script(`PRAGMA incremental_vacuum(1)`); err != nil {
			return 0, err
		}
	}
	_, err = t.One(`PRAGMA freelist_count`, nil, &left)
	if left == free {
		left = 0 // no more pages can be freed
	}
	return left, err
}

// manyPages is how long the log may become, in bytes, before a pause is used
// for a checkpoint, so that no append has to do it.
const manyPages = 16 << 20

// checkpoint checkpoints the log if it is long, as far as readers allow.
func (d *diskRoom) checkpoint() {
	if st, err := os.Stat(d.paths.Names[1]); err != nil || st.Size() < manyPages {
		return
	}
	_ = d.withLog(func(conn *engine.Conn) error { return conn.Script(`PRAGMA wal_checkpoint(PASSIVE)`) }) //nolint:errcheck // the next pause does it
}

// emptyLog checkpoints the log, truncates it to nothing, and reports whether it
// could: not while somebody reads from it.
func (d *diskRoom) emptyLog() (emptied bool, err error) {
	err = d.withLog(func(conn *engine.Conn) error {
		var blocked, pages, moved int64
		_, err := conn.One(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &blocked, &pages, &moved)
		emptied = err == nil && blocked == 0
		if engine.Busy(err) {
			err = nil
		}
		return err
	})
	return emptied, engine.Classify(err)
}

// withLog runs f with its own connection, so that the writer need not wait for
// a checkpoint. The log must not be checkpointed into a file that was copied
// over the store's.
func (d *diskRoom) withLog(f func(*engine.Conn) error) error {
	if err := d.inPlace(); err != nil {
		return err
	}
	conn, err := d.dial("mode=rw", "PRAGMA busy_timeout = 500", "PRAGMA synchronous = FULL")
	if err != nil {
		return err
	}
	return errors.Join(f(conn), conn.Close())
}
