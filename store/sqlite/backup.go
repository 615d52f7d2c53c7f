package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
)

var _ inspect.Backups = (*Store)(nil)

// Backup implements [inspect.Backups].
func (s *backupMaker) Backup(ctx context.Context, path string) (err error) {
	defer skein.Wrapf(&err, "sqlite: backup to %s", path)
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	return s.copyTo(ctx, path, inspect.BackupCopy, s.vacuumInto)
}

// copyTo writes a copy of the file under a temporary name first, so that path
// never has a partial copy. The copy is recorded before it is made, so that none
// goes unrecorded.
func (s *backupMaker) copyTo(ctx context.Context, path string, kind inspect.CopyKind, write func(ctx context.Context, to string) error) error {
	if err := s.inPlace(); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("file %s %w", path, skein.ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*") // 0600
	if err != nil {
		return err
	}
	tmp := f.Name()
	s.noteCopy(ctx, path, kind)
	err = errors.Join(f.Close(), write(ctx, tmp))
	if err == nil {
		err = errors.Join(newID(tmp), syncFile(tmp))
	}
	if err == nil {
		err = os.Link(tmp, path) // fails if there is one by now
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("file %s %w", path, skein.ErrExists)
		} else if err != nil {
			err = os.Rename(tmp, path) // no links on this disk
		}
	}
	if err := errors.Join(err, removeCopy(tmp)); err != nil {
		s.forgetCopy(path)
		return err
	}
	return nil
}

// newID gives a copy a store ID of its own.
func newID(path string) error {
	d, err := engine.Driver()
	if err != nil {
		return err
	}
	c, err := engine.Connect(d, engine.DSN(path, "mode=rw"), "PRAGMA journal_mode = DELETE")
	if err != nil {
		return err
	}
	_, _, err = c.Exec(`UPDATE store SET id = randomblob(16)`)
	return engine.Classify(errors.Join(err, c.Close()))
}

func (s *backupMaker) vacuumInto(ctx context.Context, path string) error {
	conn, err := s.dial("mode=ro", "PRAGMA busy_timeout = 5000")
	if err != nil {
		return engine.Classify(err)
	}
	err = conn.Until(ctx, func() error {
		_, _, err := conn.Exec("VACUUM INTO ?", path)
		return err
	})
	return errors.Join(engine.ReadError(ctx, err), conn.Close())
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // no connection has this file open
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// copyPages copies the file unchanged, damaged pages included, to a new file.
func (s *backupMaker) copyPages(d driver.Driver, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	to, err := engine.Connect(d, engine.DSN(path, "mode=rw"))
	if err != nil {
		return engine.Classify(err)
	}
	return errors.Join(engine.Classify(engine.CopyInto(to, d, engine.DSN(s.path, "mode=ro"), func() error { return nil })), to.Close())
}

// RestoreBackup implements [inspect.Backups].
func (s *backupMaker) RestoreBackup(ctx context.Context, path, kept string) (err error) {
	defer skein.Wrapf(&err, "sqlite: restore backup %s", path)
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	if err := s.unwritable(ctx); err != nil {
		return err
	}
	d, err := engine.Driver()
	if err != nil {
		return err
	}
	if err := s.steps.wholeBackup(ctx, d, path); err != nil {
		return err
	}
	path, done, err := s.brought(ctx, d, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = s.copyTo(ctx, kept, inspect.RestoredCopy, s.vacuumInto)
	if errors.Is(err, skein.ErrCorrupt) { // the store is damaged: copy it page by page
		if err = s.copyPages(d, kept); err == nil {
			s.noteCopy(ctx, kept, inspect.RestoredCopy)
		}
	}
	if err != nil {
		return err
	}
	known, err := s.notedCopies(ctx)
	if err != nil && !errors.Is(err, skein.ErrCorrupt) {
		return err
	}
	if err := s.adopt(d, path, known); err != nil {
		return err
	}
	return s.replace(ctx, d, path, func() error { return nil })
}

// adopt gives the store at path, which is about to replace this one, this
// store's ID and its list of copies.
func (s *backupMaker) adopt(d driver.Driver, path string, known []copyRow) (err error) {
	c, err := engine.Connect(d, engine.DSN(path, "mode=rw"), "PRAGMA journal_mode = DELETE")
	if err != nil {
		return engine.Classify(err)
	}
	defer func() { err = engine.Classify(errors.Join(err, c.Close())) }()
	if _, _, err := c.Exec(`UPDATE store SET id = ?`, s.paths.store); err != nil {
		return err
	}
	return keepCopies(c, known)
}

// replace overwrites the whole content of the file with the store at path,
// which nobody has open. Other processes that have the file open continue with
// the new content. sure is called once nobody else can write; if it returns an
// error, the file is left unchanged.
func (s *backupMaker) replace(ctx context.Context, d driver.Driver, path string, sure func() error) error {
	start := time.Now()
	patient, cancel := whileChanging(ctx, openPatience, func() any { return written(s.path) })
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if patient.Err() != nil {
			return host.BlockedBy(s.path, time.Since(start))
		}
		conn, err := s.dial("mode=rw", "PRAGMA busy_timeout = 500", "PRAGMA synchronous = FULL")
		if err != nil {
			return engine.Classify(err)
		}
		err = engine.CopyInto(conn, d, engine.DSN(path, "mode=ro&immutable=1"), sure)
		if err = errors.Join(err, conn.Close()); !engine.Busy(err) {
			return errors.Join(engine.Classify(err), s.readers.Renew())
		}
	}
}

// brought copies the backup at path and migrates the copy to this version if an
// earlier one wrote it. done removes the copy.
func (s *backupMaker) brought(ctx context.Context, d driver.Driver, path string) (to string, done func() error, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(s.path), ".restore-")
	if err != nil {
		return "", nil, err
	}
	done = func() error { return os.RemoveAll(dir) }
	to = filepath.Join(dir, "skein.db")
	if err := s.steps.bring(ctx, d, path, to); err != nil {
		return "", nil, errors.Join(engine.Classify(err), done())
	}
	return to, done, nil
}

// bring copies the store at from and migrates the copy to schema s.
func (s schema) bring(ctx context.Context, d driver.Driver, from, to string) error {
	old, err := engine.Connect(d, engine.DSN(from, "mode=ro&immutable=1"))
	if err != nil {
		return err
	}
	_, _, err = old.Exec("VACUUM INTO ?", to)
	if err = errors.Join(err, old.Close()); err != nil {
		return err
	}
	c, err := engine.Connect(d, engine.DSN(to, "mode=rw"))
	if err != nil {
		return err
	}
	keep := func(int64) error { return nil } // the file is itself a copy
	return errors.Join(step(ctx, c, s, keep), c.Close())
}

// wholeBackup refuses a backup that is not a complete store of schema s or an
// earlier one.
func (s schema) wholeBackup(ctx context.Context, d driver.Driver, path string) error {
	if err := plainFile(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("file %w", skein.ErrNotFound)
		}
		return err
	}
	c, err := engine.Connect(d, engine.DSN(path, "mode=ro&immutable=1"))
	if err != nil {
		return notBackup(err)
	}
	v, err := fileVersion(c)
	err = s.refuse(v, err)
	if err == nil && v == 0 {
		err = fmt.Errorf("%w backup: empty file", skein.ErrInvalid)
	}
	if err == nil {
		var result string
		err = c.Until(ctx, func() error {
			_, err := c.One(`PRAGMA quick_check(1)`, nil, &result)
			return err
		})
		if err == nil && result != "ok" {
			err = fmt.Errorf("%w: %s", skein.ErrCorrupt, result)
		}
	}
	return errors.Join(notBackup(err), c.Close())
}

// notBackup classifies an error from reading a backup. One driver reports it
// when it opens the file, the other later.
func notBackup(err error) error {
	if engine.Code(err)&0xff == engine.CodeNotADB {
		return fmt.Errorf("%w: not an SQLite database", skein.ErrCorrupt)
	}
	return engine.Classify(err)
}

// plainFile refuses anything but a regular file: SQLite would report a
// directory as a disk error, and would block reading from a pipe.
func plainFile(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%w file: a folder", skein.ErrInvalid)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%w file: not a regular file (%s)", skein.ErrInvalid, st.Mode().Type())
	}
	return nil
}
