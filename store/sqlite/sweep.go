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
)

// vacuumPages is how many pages one step gives back at most: some 50 ms.
// vacuumCost is how many bytes the log may take for each: the page that is moved
// to its place, what points there, and the map of both.
const (
	vacuumPages = 1000
	vacuumCost  = 4 * 4200
)

// sweep takes what was deleted out of the file itself: the index keeps deleted
// words until its parts are merged, the file keeps free pages until it is cut,
// and the log keeps old pages until it is emptied. It works in steps between
// which others write.
func (c *core) sweep(ctx context.Context) error {
	if c.tight.Load() { // merging needs room
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
	return c.write(ctx, (*tx).settle)
}

// Swept implements [skein.Sweeper].
func (s *Store) Swept(ctx context.Context) (err error) {
	defer skein.Wrapf(&err, "sqlite: sweep %s", s.path)
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	return s.swept(ctx)
}

// swept sweeps until nothing is left.
func (c *core) swept(ctx context.Context) error {
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

// sweepAgain is how long Swept waits for who reads.
const sweepAgain = 200 * time.Millisecond

// left says, for people, where bytes of what was deleted still are, and until
// when; "" if nowhere.
func (c *core) left(ctx context.Context) (string, error) {
	if owed, err := c.owed(ctx); err != nil || !owed {
		return "", err
	}
	log := filepath.Base(c.paths.names[1])
	who := "a program that reads from it"
	var all []string
	for _, p := range reading(c.paths.real()) {
		if all = append(all, p.String()); p.pid == os.Getpid() {
			all[len(all)-1] = "this program itself"
		}
	}
	if len(all) > 0 {
		who = strings.Join(all, " and ")
	}
	return fmt.Sprintf("the log %s keeps old bytes of it until %s has read what it reads; the next command after that takes them out", log, who), nil
}

// giveBack gives free pages and the log back to the disk, and reports whether
// the log was emptied.
func (c *core) giveBack(ctx context.Context) (emptied bool, err error) {
	for {
		free, most := int64(0), int64(vacuumPages)
		if room, known := freeSpace(filepath.Dir(c.path)); known {
			most = max(1, min(most, room/vacuumCost))
		}
		err := c.makingRoom(ctx, func() error {
			return c.write(ctx, func(t *tx) (err error) {
				free, err = t.cut(most)
				return err
			})
		})
		if err = errors.Join(err, c.afterStep()); err != nil {
			return false, err
		}
		if free == 0 {
			return c.emptyLog()
		}
	}
}

// cut gives at most n free pages back to the disk and returns how many are
// left.
func (t *tx) cut(n int64) (left int64, err error) {
	var free int64
	if _, err := t.one(`PRAGMA freelist_count`, nil, &free); err != nil || free == 0 {
		return 0, err
	}
	// Each row of the pragma is a page.
	for range min(n, free) {
		if err := t.script(`PRAGMA incremental_vacuum(1)`); err != nil {
			return 0, err
		}
	}
	_, err = t.one(`PRAGMA freelist_count`, nil, &left)
	if left == free {
		left = 0 // it can give no more
	}
	return left, err
}

// manyPages is how long the log may be, in bytes, before it is moved to the
// database in a pause, so that no append has to.
const manyPages = 16 << 20

// checkpoint moves what the -wal file has to the database, if that is much and
// as far as nobody reads from it.
func (c *core) checkpoint() {
	if st, err := os.Stat(c.paths.names[1]); err != nil || st.Size() < manyPages {
		return
	}
	_ = c.withLog(func(conn *conn) error { return conn.script(`PRAGMA wal_checkpoint(PASSIVE)`) }) //nolint:errcheck // the next pause does it
}

// emptyLog moves what the -wal file has to the database, cuts it to nothing,
// and reports whether it could: not while somebody reads from it.
func (c *core) emptyLog() (emptied bool, err error) {
	err = c.withLog(func(conn *conn) error {
		var blocked, pages, moved int64
		_, err := conn.one(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &blocked, &pages, &moved)
		emptied = err == nil && blocked == 0
		if busy(err) {
			err = nil
		}
		return err
	})
	return emptied, err
}

// withLog runs f with a connection of its own, so that the writer need not
// wait for a checkpoint. The log must not be moved to a file that was copied over
// the store's.
func (c *core) withLog(f func(*conn) error) error {
	if err := c.inPlace(); err != nil {
		return err
	}
	conn, err := c.dial("mode=rw", "PRAGMA busy_timeout = 500", "PRAGMA synchronous = FULL")
	if err != nil {
		return err
	}
	return errors.Join(f(conn), conn.close())
}
