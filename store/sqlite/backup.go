package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/copies"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
	"github.com/skein-dev/skein/store/sqlite/host"
	"github.com/skein-dev/skein/store/sqlite/schema"
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
	f, err := os.CreateTemp(filepath.Dir(path), copies.Unfinished+"*") // 0600
	if err != nil {
		return err
	}
	tmp := f.Name()
	s.noteCopy(ctx, path, kind)
	err = errors.Join(f.Close(), write(ctx, tmp))
	if err == nil {
		err = errors.Join(newID(tmp), files.Sync(tmp))
	}
	if err == nil {
		err = os.Link(tmp, path) // fails if there is one by now
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("file %s %w", path, skein.ErrExists)
		} else if err != nil {
			err = os.Rename(tmp, path) // no links on this disk
		}
	}
	if err := errors.Join(err, copies.Remove(tmp)); err != nil {
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
	id := make([]byte, 16)
	rand.Read(id) // it never fails
	err = files.Rename(c, id)
	return engine.Classify(errors.Join(err, c.Close()))
}

func (s *backupMaker) vacuumInto(ctx context.Context, path string) error {
	mode := "mode=ro"
	if s.readMode() == engine.Immutable {
		mode = engine.Immutable
	}
	conn, err := s.dial(mode, "PRAGMA busy_timeout = 5000")
	if err != nil {
		return engine.Classify(err)
	}
	err = conn.Until(ctx, func() error {
		_, _, err := conn.Exec("VACUUM INTO ?", path)
		return err
	})
	return errors.Join(engine.ReadError(ctx, err), conn.Close(), s.paths.Check()) // nobody wrote to it meanwhile, if it is immutable
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
	if err := s.steps.Whole(ctx, d, path); err != nil {
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
func (s *backupMaker) adopt(d driver.Driver, path string, known []copies.Row) (err error) {
	c, err := engine.Connect(d, engine.DSN(path, "mode=rw"), "PRAGMA journal_mode = DELETE")
	if err != nil {
		return engine.Classify(err)
	}
	defer func() { err = engine.Classify(errors.Join(err, c.Close())) }()
	if err := files.Rename(c, s.paths.Store); err != nil {
		return err
	}
	return copies.Keep(c, known)
}

// replace overwrites the whole content of the file with the store at path,
// which nobody has open. Other processes that have the file open continue with
// the new content. sure is called once nobody else can write; if it returns an
// error, the file is left unchanged.
func (s *backupMaker) replace(ctx context.Context, d driver.Driver, path string, sure func() error) error {
	start := time.Now()
	patient, cancel := schema.WhileChanging(ctx, schema.OpenPatience, func() any { return files.Written(s.path) })
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
	if err := s.steps.Bring(ctx, d, path, to); err != nil {
		return "", nil, errors.Join(engine.Classify(err), done())
	}
	return to, done, nil
}
