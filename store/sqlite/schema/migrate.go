package schema

import (
	"context"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/copies"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
)

//go:embed *.sql
var schemaFS embed.FS

const (
	// ApplicationID marks the file as a store of a released skein: "Ske1".
	// internal/foreign knows it too.
	ApplicationID = 0x536b6531
	// minVersion is the first version of SQLite whose WAL never loses a commit.
	minVersion = "3.51.3"
)

// DevelopmentIDs mark the stores of development builds from before the first release:
// "Skn1", "Skei", "Sken". Their schema numbers, up to 15, have other meanings here.
var DevelopmentIDs = []int64{0x536b6e31, 0x536b6569, 0x536b656e}

// shapePragmas shape a file before its first write. On a file that has been
// written to, the last one would rewrite what is there.
var shapePragmas = []string{
	"PRAGMA page_size = 4096",
	"PRAGMA auto_vacuum = INCREMENTAL",
}

// WriterPragmas are set on the connection that writes.
var WriterPragmas = []string{
	"PRAGMA busy_timeout = 500",
	"PRAGMA journal_mode = WAL",
	"PRAGMA synchronous = FULL",
	"PRAGMA secure_delete = FAST", // what is deleted is overwritten if that costs no further write
	"PRAGMA foreign_keys = 1",
	"PRAGMA journal_size_limit = 67108864",
	"PRAGMA cache_size = -8000",
	"PRAGMA mmap_size = 0",
	"PRAGMA trusted_schema = 0",
	"PRAGMA recursive_triggers = 0",
}

// tryWriter opens the connection that writes and migrates the file to the
// schema of this version. It checks before it changes anything.
func tryWriter(ctx context.Context, d driver.Driver, path string, steps Steps, notice func(string)) (_ *engine.Conn, err error) {
	if err := look(d, path, steps); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) && !host.ReadOnlyFS(err) {
		return nil, err
	}
	pragmas := WriterPragmas
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		pragmas = slices.Concat(shapePragmas, WriterPragmas)
	}
	was, err := host.Identify(path)
	if err != nil {
		return nil, err
	}
	c, err := engine.Connect(d, engine.DSN(path, "mode=rw"), pragmas...)
	if err != nil {
		return nil, engine.ClassifyOpen(err)
	}
	if err = Migrate(ctx, c, path, steps, notice); err == nil {
		if is, serr := host.Identify(path); serr != nil || is != was {
			err = errors.Join(errSwapped, serr)
		}
	}
	if err != nil {
		return nil, errors.Join(engine.ClassifyOpen(err), c.Close())
	}
	return c, nil
}

// Migrate brings the file to the version of steps, in one transaction, after
// making a copy of it, of which it notifies people. The error wraps [skein.ErrNewer]
// or [skein.ErrInvalid] if the file is not a store that this version knows.
func Migrate(ctx context.Context, c *engine.Conn, path string, steps Steps, notice func(string)) error {
	v, err := FileVersion(c)
	if err != nil || v == steps.Version() {
		return err
	}
	var to string
	done := func() {}
	defer func() { done() }()
	err = step(ctx, c, steps, func(v int64) (err error) {
		done = showAlive(path)
		to, err = copyFirst(path, v, steps, notice)
		return err
	})
	if err == nil && to != "" {
		err = copies.Note(c, to, inspect.MigrationCopy, skein.At(time.Now()))
	}
	return err
}

// step runs those of steps that are missing, in one transaction. Unless none is
// missing or the file is empty, it calls first in that transaction, while nobody
// else can change the file.
func step(ctx context.Context, c *engine.Conn, steps Steps, first func(v int64) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := c.Exec("BEGIN IMMEDIATE"); err == nil {
			break
		} else if !engine.Busy(err) {
			return err
		}
	}
	if err := runSteps(c, steps, first); err != nil {
		_, _, rerr := c.Exec("ROLLBACK")
		return errors.Join(err, rerr)
	}
	_, _, err := c.Exec("COMMIT")
	return err
}

// A Steps is the steps that make it: the first creates the tables of an empty
// file, and each of the others changes what the one before it left. The number
// of steps that made a file is its user_version.
type Steps []string

// Version returns the user_version of a file of schema s.
func (s Steps) Version() int64 { return int64(len(s)) }

// All returns the schema of this version: the .sql files, in order. The error is
// that of package embed.
func All() (s Steps, err error) {
	names, err := fs.Glob(schemaFS, "*.sql")
	for _, name := range names {
		text, rerr := schemaFS.ReadFile(name)
		err = errors.Join(err, rerr)
		s = append(s, string(text))
	}
	return s, err
}

// runSteps runs the missing steps in the caller's transaction. Another process
// may have run them meanwhile.
func runSteps(c *engine.Conn, steps Steps, first func(v int64) error) error {
	v, err := FileVersion(c)
	if err := steps.refuse(v, err); err != nil {
		return err
	}
	if v > 0 && v < steps.Version() {
		if err := first(v); err != nil {
			return err
		}
	}
	for ; v < steps.Version(); v++ {
		if err := c.Script(steps[v]); err != nil {
			return fmt.Errorf("schema %d: %w", v+1, err)
		}
	}
	return c.Script(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", steps.Version(), ApplicationID))
}
