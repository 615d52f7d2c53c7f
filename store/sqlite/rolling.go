package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/copies"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
)

const (
	rollEvery = 24 * time.Hour
	rollAgain = time.Hour // after a failed attempt
)

// A roll makes rolling copies, in the folder backups beside the store. Whoever
// makes one holds the lock of a file in that folder, which is never removed;
// its modification time is that of the last attempt's start, or of its end once
// it has ended. It is an advisory lock of a file that SQLite does not know, so
// that nothing that SQLite has locked is touched.
type roll struct {
	*backupMaker
	keep int
}

// Due implements [inspect.Backups]. It reads only a few rows. If a copy is due,
// it creates the folder and the lock file if need be: its caller starts a
// process for the copy, which must not fail each time.
func (s *backupMaker) Due(ctx context.Context, keep int) (due bool, err error) {
	defer skein.Wrapf(&err, "sqlite: copy of %s", s.path)
	if st, err := os.Stat(s.rollLock()); err == nil && recent(s.clock(), st.ModTime(), rollAgain) {
		return false, nil
	}
	r := roll{s, keep}
	if due, err := r.due(ctx); err != nil || !due {
		return false, err
	}
	return r.free()
}

// free reports whether nobody is making a copy. Its error is why Roll could not
// start one, or could not record its attempt.
func (r roll) free() (free bool, err error) {
	name := r.rollLock()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil { // nobody has tried yet, and this was no attempt
		long := r.clock().Add(-rollEvery)
		err = errors.Join(f.Close(), os.Chtimes(name, long, long))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	lock := flock.New(name, flock.SetPermissions(0o600))
	if free, err = lock.TryRLock(); err != nil || !free {
		return false, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	st, err := os.Stat(name)
	if err == nil {
		err = os.Chtimes(name, time.Time{}, st.ModTime())
	}
	return err == nil, err
}

// recent reports whether then is less than d away from now. A clock that was
// set back must not make everything recent for years.
func recent(now, then time.Time, d time.Duration) bool { return now.Sub(then).Abs() < d }

func (r roll) due(ctx context.Context) (bool, error) {
	if cannot := r.unwritable(ctx); r.keep < 1 || cannot != nil {
		return false, nil //nolint:nilerr // none is made of what cannot be written to
	}
	var known []copies.Row
	var begun int64
	var state string
	err := r.read(ctx, func(c *engine.Conn) (err error) {
		if _, err = c.One(`SELECT begun FROM store`, nil, &begun); err == nil {
			known, err = copies.All(c)
		}
		if err == nil {
			state, err = copies.StateOf(c)
		}
		return err
	})
	if err != nil {
		return false, err
	}
	if recent(r.clock(), skein.Time(begun).Std(), rollEvery) {
		return false, nil
	}
	if slices.ContainsFunc(known, func(n copies.Row) bool {
		_, err := os.Stat(n.Path)
		return err == nil && n.Kind != inspect.DamagedCopy && (n.State == state || recent(r.clock(), n.Made.Std(), rollEvery))
	}) {
		return false, nil
	}
	return true, r.room()
}

// leastRoom is how many bytes a copy must leave free, or a tenth of its size if
// that is more: with less, Examine warns.
const leastRoom = 256 << 20

// room returns an error if a copy would fill the disk.
func (r roll) room() error {
	st, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	dir := copies.Folder(r.path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir = filepath.Dir(r.path)
	}
	if free, known := host.FreeSpace(dir); known && free < st.Size()+max(leastRoom, st.Size()/10) {
		return fmt.Errorf("%w for a copy of the store: it takes %s, the disk has %s left", skein.ErrFull, inUnits(st.Size()), inUnits(free))
	}
	return nil
}

func (s *backupMaker) rollLock() string {
	return filepath.Join(copies.Folder(s.path), "."+filepath.Base(s.path)+".lock")
}

// Roll implements [inspect.Backups].
func (s *backupMaker) Roll(ctx context.Context, keep int) (path string, err error) {
	defer skein.Wrapf(&err, "sqlite: copy of %s", s.path)
	leave, err := s.enter()
	if err != nil {
		return "", err
	}
	defer leave()
	r := roll{s, keep}
	if due, err := r.due(ctx); err != nil || !due {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(s.rollLock()), 0o700); err != nil {
		return "", err
	}
	lock := flock.New(s.rollLock(), flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if due, err := r.due(ctx); err != nil || !due { // another process made a copy meanwhile
		return "", err
	}
	now := s.clock()
	if err := r.mark(); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, r.mark()) }()
	r.sweepUnfinished()
	path = r.prefix() + now.UTC().Format("20060102T150405.000Z") + ".db"
	if err := s.copyTo(ctx, path, inspect.RollingCopy, s.copySlowly); err != nil {
		return "", err
	}
	return path, r.rotate(ctx)
}

// mark records when a copy was last tried.
func (r roll) mark() error {
	now := r.clock()
	return os.Chtimes(r.rollLock(), now, now)
}

// prefix is what the paths of the store's rolling copies begin with.
func (r roll) prefix() string {
	return filepath.Join(copies.Folder(r.path), strings.TrimSuffix(filepath.Base(r.path), ".db")+"-daily-")
}

// sweepUnfinished removes what processes left that were killed while they made
// a copy.
func (r roll) sweepUnfinished() {
	left, _ := filepath.Glob(filepath.Join(copies.Folder(r.path), copies.Unfinished+"*")) //nolint:errcheck // the pattern is good
	for _, name := range left {
		if st, err := os.Stat(name); err == nil && !recent(r.clock(), st.ModTime(), rollEvery) {
			_ = os.Remove(name) //nolint:errcheck // the next one does it
		}
	}
}

// rotate removes the oldest of the store's own copies, down to keep. A store
// that is a copy of another also knows that one's copies, which are not its
// own: they are in another folder, or have another name.
func (r roll) rotate(ctx context.Context) error {
	known, err := r.notedCopies(ctx)
	if err != nil {
		return err
	}
	left := r.keep
	for _, n := range known {
		if n.Kind != inspect.RollingCopy || !strings.HasPrefix(n.Path, r.prefix()) {
			continue
		}
		if _, err := os.Lstat(n.Path); err != nil {
			continue // moved: it may still exist elsewhere
		}
		if left--; left >= 0 {
			continue
		}
		if err := os.Remove(n.Path); err != nil {
			return err
		}
		r.forgetCopy(n.Path)
	}
	return nil
}

// rollPages is how many pages one step copies: 1 MB.
const rollPages = 256

// copySlowly copies the current state of the store to the empty file at path.
// Each step is on disk before the next begins, followed by a pause as long as
// the step: a file that the system writes out all at once makes the fsync of
// every commit wait. While it works, the log cannot start over; once the log
// gets long, there are no more pauses. The copy is checked.
func (s *backupMaker) copySlowly(ctx context.Context, path string) (err error) {
	d, err := engine.Driver()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }() // no connection has the file open any more
	from, err := s.dial("mode=ro", "PRAGMA busy_timeout = 5000")
	if err != nil {
		return engine.Classify(err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if _, _, err := from.Exec("BEGIN"); err != nil { // everything is read from one state of the store
		return engine.Classify(err)
	}
	var n int64
	if _, err := from.One(`SELECT count(*) FROM store`, nil, &n); err != nil {
		return engine.Classify(err)
	}
	to, err := engine.CopyOut(from, d, engine.DSN(path, "mode=rw"))
	if err != nil {
		return engine.Classify(err)
	}
	for more := true; more && err == nil; {
		start := time.Now()
		if more, err = to.Step(rollPages); err == nil {
			err = f.Sync()
		}
		if more && err == nil {
			err = s.pause(ctx, time.Since(start))
		}
	}
	if err := errors.Join(err, to.Finish()); err != nil {
		return engine.Classify(err)
	}
	err = s.steps.Whole(ctx, d, path)
	return err
}

// pause waits, unless the log has become long.
func (s *backupMaker) pause(ctx context.Context, d time.Duration) error {
	if st, err := os.Stat(s.paths.Names[1]); err == nil && st.Size() > 4*manyPages {
		return ctx.Err()
	}
	return sleep.For(ctx, d)
}
