package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
	"github.com/skein-dev/skein/store/sqlite/pagefile"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// A diskRoom knows how full the disk is, and makes room on it.
type diskRoom struct {
	*core
	logPages atomic.Int64 // how many pages the log may have before a commit checkpoints it
	tight    atomic.Bool  // the disk is nearly full
	stepping sync.Mutex   // held during a step that frees room
	freeing  sync.Mutex   // held while the reserve is used
}

// A store that was opened on a full disk is read-only until there is room: a call
// that writes tries again to open it for writing, at most once per tryEvery.
const tryEvery = time.Second

// unwritable returns why nothing can be written; nil if it can.
func (c *core) unwritable(ctx context.Context) error {
	c.opening.RLock()
	err, again := c.readOnly, time.Since(c.tried) > tryEvery
	c.opening.RUnlock()
	if !errors.Is(err, skein.ErrFull) || !again {
		return err
	}
	return c.reopen(ctx)
}

// reopen opens a read-only store for writing, if there is room now, and returns why
// nothing can be written if that fails. From then on, reads see what others write.
func (c *core) reopen(ctx context.Context) error {
	c.opening.RLock()
	writable := c.readOnly == nil
	c.opening.RUnlock()
	if writable {
		return nil
	}
	c.opening.Lock()
	defer c.opening.Unlock()
	if c.readOnly == nil {
		return nil
	}
	d, err := engine.Driver()
	if err != nil {
		return err
	}
	if err := c.readers.Renew(); err != nil {
		return err
	}
	if err := c.openFiles(ctx, d, Options{Patience: c.patience, Notice: c.notice, steps: c.steps}); err != nil {
		return err
	}
	err = c.readers.Renew()
	if c.readOnly == nil { // there is a writer: Close relies on the background work, too
		c.work()
	}
	return errors.Join(c.readOnly, err)
}

// The reserve is a file of random bytes beside the store. On a full disk, SQLite
// cannot delete anything, because it writes before it frees; then the reserve is
// removed, and deleting uses its room. It is created again when there is room.
const (
	reserveSuffix = "-reserve"
	reserveLeast  = 512 << 10
	reserveMost   = 8 << 20
	tightRoom     = 8 // with less room than this many reserves, what can wait is left for later
)

// reserveFor returns the size of the reserve for a store of the given size. A
// deletion step is bounded, but the larger the store, the more pages of the indexes
// it touches. There are only a few sizes, so that the file is seldom replaced.
func reserveFor(size int64) int64 {
	want := int64(reserveLeast)
	for want < reserveMost && want*8 <= size {
		want *= 2
	}
	return want
}

func (d *diskRoom) reserve() string { return d.paths.Real() + reserveSuffix }

// lookAtRoom checks whether the disk is nearly full, and returns the size that
// the reserve should have and the room for it; 0 if it is not known. It also sets
// when a commit checkpoints the log: on a full disk, the reserve must have room for
// the pages of the log that the file does not have yet.
func (d *diskRoom) lookAtRoom() (want, room int64) {
	st, err := os.Stat(d.path)
	if err != nil {
		return 0, 0
	}
	want = reserveFor(st.Size())
	d.logPages.Store(want / pagefile.PageSize)
	room, known := host.FreeSpace(filepath.Dir(d.reserve()))
	d.tight.Store(known && room < tightRoom*want)
	return want, room
}

// fits returns [skein.ErrFull] if the disk has too little room for a transaction that
// changes the file's number of pages from was to is. New pages are written to the log
// first and then, at a checkpoint, to the file. If there is room for the first but not for
// the second, the log can never be emptied, and then nothing can be deleted either. The
// room of the reserve counts only for the second. Without a reserve, the file may take
// a part of the room that leaves as much for the log, and a quarter for the other pages
// that the transaction changes.
func (d *diskRoom) fits(was, is int64) error {
	if is < was || is == was && !d.tight.Load() {
		return nil
	}
	file, err := os.Stat(d.path)
	if err != nil {
		return err
	}
	grows := is*pagefile.PageSize - file.Size() // pages of earlier transactions may still be in the log
	if grows <= 0 {
		return nil
	}
	if reserve, err := os.Lstat(d.reserve()); err == nil && grows <= reserve.Size() {
		return nil
	}
	if room, known := host.FreeSpace(filepath.Dir(d.reserve())); known && grows > room/8*3 {
		return fmt.Errorf("%w: the file would grow by %s, and the disk has room for %s", skein.ErrFull, inUnits(grows), inUnits(room))
	}
	return nil
}

// keepReserve creates the reserve, if it does not exist or the store has
// outgrown it. Failing to create it matters only when it is needed. While its
// room is being used, it is not created.
func (d *diskRoom) keepReserve() {
	if d.freeing.TryLock() {
		defer d.freeing.Unlock()
		d.renewReserve()
	}
}

// renewReserve is keepReserve while d.freeing is held.
func (d *diskRoom) renewReserve() {
	want, room := d.lookAtRoom()
	is, err := os.Lstat(d.reserve())
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none || err == nil && is.Size() >= want || room < want {
		return
	}
	_ = os.Remove(d.reserve()) //nolint:errcheck // then it is a small one
	d.createReserve(want)
}

// createReserve creates the reserve with the given size, if there is none and there is
// room for it. A store whose file is gone has none: its size is 0.
func (d *diskRoom) createReserve(size int64) {
	if size == 0 {
		return
	}
	b := make([]byte, size) // random: some file systems do not store zeros
	_, _ = rand.Read(b)     //nolint:errcheck // it never fails
	f, err := os.OpenFile(d.reserve(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // another process is creating it
	}
	if _, err := f.Write(b); errors.Join(err, f.Close()) != nil {
		_ = os.Remove(d.reserve()) //nolint:errcheck // then it is a small one
	}
}

// makingRoom runs do, which frees room on the disk. If that needs more room, it
// gives it that of the log and of half the reserve; the other half is for the pages that
// the file then takes from the log. If that is not enough, it empties the search index:
// to remove words from it, FTS5 may have to rewrite a large part of it. It is rebuilt when
// there is room; until then, searches read the texts.
func (d *diskRoom) makingRoom(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, skein.ErrFull) {
		return err
	}
	d.freeing.Lock() // two that make room would take each other's
	defer d.freeing.Unlock()
	if err := d.reopenFreed(ctx); err != nil {
		return err
	}
	want, room := d.lookAtRoom()
	d.createReserve(min(want, room) / 2)
	d.tight.Store(true)
	if err := do(); !errors.Is(err, skein.ErrFull) {
		return err
	}
	if err := d.reopenFreed(ctx); err != nil {
		return err
	}
	err = d.write(ctx, func(t *txn.Tx) error {
		if fed, err := t.One(`SELECT 1 FROM indexed WHERE upto > 0`, nil, new(int64)); err != nil || !fed {
			return err
		}
		return textindex.ForgetIndex(t)
	})
	if err != nil {
		return err
	}
	return do()
}

// reopenFreed frees the room of the reserve and of the log, and opens the store for
// writing if there was no room for that. The log may hold pages that the file does not
// have yet: once they are in it, the room of the log is free.
func (d *diskRoom) reopenFreed(ctx context.Context) error {
	_ = os.Remove(d.reserve()) //nolint:errcheck // it is already removed
	if err := d.reopen(ctx); err != nil {
		return err
	}
	if err := d.emptyLogAlone(); err != nil && !errors.Is(err, skein.ErrFull) {
		return err
	}
	return nil
}

// freeStep writes one step of many that free room, as f says. If the disk is nearly
// full, the log is emptied before the next step; if the file has no room for what is in
// the log, the next step makes it.
func (d *diskRoom) freeStep(ctx context.Context, f func(*txn.Tx) error) error {
	d.stepping.Lock()
	defer d.stepping.Unlock()
	if err := d.makingRoom(ctx, func() error { return d.write(ctx, f) }); err != nil || !d.tight.Load() {
		return err
	}
	if err := d.makingRoom(ctx, d.emptyLogAlone); !errors.Is(err, skein.ErrFull) {
		return err
	}
	return nil
}

// emptyLogAlone empties the log while nobody in this process writes: if steps
// followed each other in several goroutines, the log would never be idle, and
// would fill the disk.
func (d *diskRoom) emptyLogAlone() error {
	return d.writer.Alone(func() error {
		_, err := d.emptyLog()
		return err
	})
}
