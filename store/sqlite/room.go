package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
)

// A store that was opened on a full disk is read only until there is room: it
// is tried again, by who writes, at most so often.
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

// reopen opens a store for writing that could only be read, if there is room
// now, and returns why nothing can be written still. What is read from then on
// is read as others write it.
func (c *core) reopen(ctx context.Context) error {
	c.opening.Lock()
	defer c.opening.Unlock()
	if c.readOnly == nil {
		return nil
	}
	d, err := sqlDriver()
	if err != nil {
		return err
	}
	if err := c.readers.renew(); err != nil {
		return err
	}
	if err := c.openFiles(ctx, d, Options{Patience: c.patience, Notice: c.notice, steps: c.steps}); err != nil {
		return err
	}
	err = c.readers.renew()
	if c.readOnly == nil { // there is a writer: Close counts on what works beside it
		c.work()
	}
	return errors.Join(c.readOnly, err)
}

// The reserve is a file of random bytes beside the store. On a full disk SQLite
// can delete nothing, for it writes before it frees; then the file goes, and its
// room is what deleting needs. It is made again when there is room.
const (
	reserveSuffix = "-reserve"
	reserveLeast  = 512 << 10
	reserveMost   = 4 << 20
	tightRoom     = 8 // on a disk with less room than so many reserves, what can wait is left for later
)

// reserveFor returns how large a reserve is right for a store of a size. A step
// of a deletion has a bound, but the larger the store, the more pages of the
// indexes it touches. The sizes are few, so that the file is seldom made anew.
func reserveFor(size int64) int64 {
	want := int64(reserveLeast)
	for want < reserveMost && want*8 <= size {
		want *= 2
	}
	return want
}

func (c *core) reserve() string { return c.paths.real() + reserveSuffix }

// keepReserve makes the reserve, if it is not there or the store has outgrown
// it, and sees whether the disk is nearly full. That the reserve cannot be made
// matters only when it would be needed.
func (c *core) keepReserve() {
	st, err := os.Stat(c.path)
	if err != nil {
		return
	}
	want := reserveFor(st.Size())
	room, known := freeSpace(filepath.Dir(c.reserve()))
	if !known || room >= tightRoom*want {
		c.tight.Store(false)
	}
	is, err := os.Lstat(c.reserve())
	none := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !none, err == nil && is.Size() >= want:
		return
	case !known || room < want:
		if none && known {
			c.tight.Store(true)
		}
		return
	}
	_ = os.Remove(c.reserve()) //nolint:errcheck // then it is a small one
	b := make([]byte, want)    // random: some file systems keep no zeros
	_, _ = rand.Read(b)        //nolint:errcheck // it never fails
	f, err := os.OpenFile(c.reserve(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return // another process makes it
	}
	if _, err := f.Write(b); errors.Join(err, f.Close()) != nil {
		_ = os.Remove(c.reserve()) //nolint:errcheck // then it is a small one
	}
}

// makingRoom does what makes room on the disk, with the room of the reserve if
// need be. Then the search index goes first: to take words out of it, FTS5 may
// have to write a large part of it anew. It is built again when there is room;
// until then search reads the texts.
func (c *core) makingRoom(ctx context.Context, do func() error) error {
	err := do()
	if !errors.Is(err, skein.ErrFull) {
		return err
	}
	if os.Remove(c.reserve()) != nil { // it is given back already
		if emptied, eerr := c.emptyLog(); eerr != nil || !emptied {
			return err
		}
		return do()
	}
	c.tight.Store(true)
	c.opening.RLock()
	closed := c.readOnly != nil
	c.opening.RUnlock()
	if closed {
		if err := c.reopen(ctx); err != nil {
			return err
		}
	}
	if err := c.write(ctx, (*tx).forgetIndex); err != nil {
		return err
	}
	return do()
}

// afterStep lets the log begin anew where there is hardly room for it to grow.
// The writer waits meanwhile: where one step follows the other, in several
// goroutines, the log would never be found at rest, and fill the disk.
func (c *core) afterStep() error {
	if !c.tight.Load() {
		return nil
	}
	c.writer.mu.Lock()
	defer c.writer.mu.Unlock()
	_, err := c.emptyLog()
	return err
}
