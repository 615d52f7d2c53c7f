package sqlite

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
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/host"
)

//go:embed schema/*.sql
var schemaFS embed.FS

const (
	// applicationID marks the file as a store of a released skein: "Ske1".
	// internal/foreign knows it too.
	applicationID = 0x536b6531
	// minVersion is the first version of SQLite whose WAL never loses a commit.
	minVersion = "3.51.3"
)

// developmentIDs mark the stores of development builds from before the first release:
// "Skn1", "Skei", "Sken". Their schema numbers, up to 15, have other meanings here.
var developmentIDs = []int64{0x536b6e31, 0x536b6569, 0x536b656e}

// shapePragmas shape a file before its first write. On a file that has been
// written to, the last one would rewrite what is there.
var shapePragmas = []string{
	"PRAGMA page_size = 4096",
	"PRAGMA auto_vacuum = INCREMENTAL",
}

// writerPragmas are set on the connection that writes.
var writerPragmas = []string{
	"PRAGMA busy_timeout = 500",
	"PRAGMA journal_mode = WAL",
	"PRAGMA synchronous = FULL",
	"PRAGMA secure_delete = FAST", // what is deleted is overwritten if that costs no further write
	"PRAGMA foreign_keys = 1",
	"PRAGMA journal_size_limit = 67108864",
	"PRAGMA cache_size = -16000",
	"PRAGMA mmap_size = 0",
	"PRAGMA trusted_schema = 0",
	"PRAGMA recursive_triggers = 0",
}

// tryWriter opens the connection that writes and migrates the file to the
// schema of this version. It checks before it changes anything.
func tryWriter(ctx context.Context, d driver.Driver, path string, o Options) (_ *engine.Conn, err error) {
	if err := look(d, path, o.steps); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) && !host.ReadOnlyFS(err) {
		return nil, err
	}
	pragmas := writerPragmas
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		pragmas = slices.Concat(shapePragmas, writerPragmas)
	}
	was, err := host.Identify(path)
	if err != nil {
		return nil, err
	}
	c, err := engine.Connect(d, engine.DSN(path, "mode=rw"), pragmas...)
	if err != nil {
		return nil, engine.ClassifyOpen(err)
	}
	if err = migrate(ctx, c, path, o); err == nil {
		if is, serr := host.Identify(path); serr != nil || is != was {
			err = errors.Join(errSwapped, serr)
		}
	}
	if err != nil {
		return nil, errors.Join(engine.ClassifyOpen(err), c.Close())
	}
	return c, nil
}

// migrate brings the file to the version of o.steps, in one transaction, after
// making a copy of it.
func migrate(ctx context.Context, c *engine.Conn, path string, o Options) error {
	v, err := fileVersion(c)
	if err != nil || v == o.steps.version() {
		return err
	}
	var to string
	done := func() {}
	defer func() { done() }()
	err = step(ctx, c, o.steps, func(v int64) (err error) {
		done = showAlive(path)
		to, err = copyFirst(path, v, o)
		return err
	})
	if err == nil && to != "" {
		err = noteCopy(c, to, inspect.MigrationCopy, skein.At(time.Now()))
	}
	return err
}

// step runs those of steps that are missing, in one transaction. Unless none is
// missing or the file is empty, it calls first in that transaction, while nobody
// else can change the file.
func step(ctx context.Context, c *engine.Conn, steps schema, first func(v int64) error) error {
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

// A schema is the steps that make it: the first creates the tables of an empty
// file, and each of the others changes what the one before it left. The number
// of steps that made a file is its user_version.
type schema []string

// version returns the user_version of a file of schema s.
func (s schema) version() int64 { return int64(len(s)) }

// schemaSteps returns the schema of this version: the texts of schema/, in order.
func schemaSteps() (s schema, err error) {
	names, err := fs.Glob(schemaFS, "schema/*.sql")
	for _, name := range names {
		text, rerr := schemaFS.ReadFile(name)
		err = errors.Join(err, rerr)
		s = append(s, string(text))
	}
	return s, err
}

// runSteps runs the missing steps in the caller's transaction. Another process
// may have run them meanwhile.
func runSteps(c *engine.Conn, steps schema, first func(v int64) error) error {
	v, err := fileVersion(c)
	if err := steps.refuse(v, err); err != nil {
		return err
	}
	if v > 0 && v < steps.version() {
		if err := first(v); err != nil {
			return err
		}
	}
	for ; v < steps.version(); v++ {
		if err := c.Script(steps[v]); err != nil {
			return fmt.Errorf("schema %d: %w", v+1, err)
		}
	}
	return c.Script(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", steps.version(), applicationID))
}
