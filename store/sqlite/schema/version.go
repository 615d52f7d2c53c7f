package schema

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
)

// look returns an error, without writing to the file, if this version cannot
// use it or if SQLite is too old.
func look(d driver.Driver, path string, s Steps) error {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		return nil
	}
	// A file without a log is complete, and nobody has it open. If it is opened
	// as immutable, SQLite does not create a log either.
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		if v, err := versionAs(d, path, "mode=ro&immutable=1"); err == nil {
			return s.refuse(v, nil)
		}
	}
	v, err := versionAs(d, path, "mode=ro")
	return s.refuse(v, engine.ClassifyOpen(err))
}

// versionAs opens the file in a mode, and returns its schema version.
func versionAs(d driver.Driver, path, mode string) (v int64, err error) {
	c, err := engine.Connect(d, engine.DSN(path, mode), "PRAGMA busy_timeout = 5000")
	if err != nil {
		return 0, err
	}
	v, err = FileVersion(c)
	return v, errors.Join(err, c.Close())
}

// refuse returns err or, if that is nil, an error if version v is too new.
func (s Steps) refuse(v int64, err error) error {
	if err == nil && v > s.Version() {
		return fmt.Errorf("%w: the file has schema %d, this program knows %d", skein.ErrNewer, v, s.Version())
	}
	return err
}

// substitutes create, for a connection that only reads, what the step after a version adds:
// without it, a file of that version could not be read until it was migrated, and on a
// read-only disk never. An empty index says that it is behind, so that nobody relies on it.
var substitutes = map[int64]string{
	1: `CREATE TEMP TABLE edits (key INTEGER NOT NULL, event INTEGER NOT NULL);
		CREATE TEMP TABLE edits_fed AS SELECT 1 AS one, 0 AS upto;`,
	2: ``, // the tables are the same
	3: `CREATE TEMP TABLE shares (id, hash, user_id, session, shows, by, created, expires, views, viewed);`,
}

// Substitutes returns a script that lets a connection read a file of version v as one of
// schema s, and false if that cannot be done.
func (s Steps) Substitutes(v int64) (script string, ok bool) {
	for ; v < s.Version(); v++ {
		step, known := substitutes[v]
		if !known {
			return "", false
		}
		script += step
	}
	return script, true
}

// Same returns an error if another program has brought the file to schema v since it
// was opened, because what this one would write does not fit. v is 0 if unknown.
// The error wraps [skein.ErrNewer] or [skein.ErrReplaced].
func (s Steps) Same(v int64) error {
	switch {
	case v > s.Version():
		return fmt.Errorf("%w: a newer skein has brought the file to schema %d while this program, which knows %d, had it open: end this program and start the newer one", skein.ErrNewer, v, s.Version())
	case v != 0 && v < s.Version():
		return fmt.Errorf("%w: the file has schema %d, it had %d when it was opened; open it again", skein.ErrReplaced, v, s.Version())
	}
	return nil
}

// FileVersion returns the file's schema version, 0 for an empty file. The error
// wraps [skein.ErrInvalid] if another program made the file.
func FileVersion(c *engine.Conn) (v int64, err error) {
	var sqlite string
	if _, err := c.One("SELECT sqlite_version()", nil, &sqlite); err != nil {
		return 0, err
	}
	if older(sqlite, minVersion) {
		return 0, errVersion(sqlite)
	}
	// The tables are read first: another process may create the file between
	// these queries, and the application ID is stored together with the tables.
	var app, tables int64
	if _, err := c.One("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
		return 0, err
	}
	if _, err := c.One("PRAGMA application_id", nil, &app); err != nil {
		return 0, err
	}
	if _, err := c.One("PRAGMA user_version", nil, &v); err != nil {
		return 0, err
	}
	switch {
	case tables == 0 || app == ApplicationID:
		return v, nil
	case slices.Contains(DevelopmentIDs, app):
		return 0, ErrDevelopment
	default:
		return 0, fmt.Errorf("%w file: it is a database of another program (application ID %#x)", skein.ErrInvalid, app)
	}
}

// ErrDevelopment says what to do with a store from a build that was never released.
var ErrDevelopment = fmt.Errorf("%w file: a development build of skein, from before the first release, created it, and no release can read it\n"+
	"export its sessions with that build (skein export NAME --to skein -o FILE), move the file away, and import them with this one (skein import FILE)", skein.ErrInvalid)

// older reports whether version a is before b.
func older(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, xerr := strconv.Atoi(as[i])
		y, yerr := strconv.Atoi(bs[i])
		if xerr != nil || yerr != nil || x != y {
			return x < y
		}
	}
	return false
}

// ReadOnlyMode returns the mode in which a file that cannot be written to can
// be read: with the -wal file if SQLite can use it, as immutable if there is
// none, otherwise with the log index in memory. The error says why none of these
// is possible.
func ReadOnlyMode(d driver.Driver, path string, s Steps) (string, error) {
	var errs []error
	for _, mode := range []string{"mode=ro", engine.Immutable, engine.Shmless} {
		if st, err := os.Stat(path + "-wal"); mode == engine.Immutable && err == nil && st.Size() > 0 {
			continue // the content of the -wal file would be missing
		}
		c, err := engine.Connect(d, engine.DSN(path, mode))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		v, err := FileVersion(c)
		_, reads := s.Substitutes(v)
		cerr := c.Close()
		switch {
		case err == nil && !reads:
			return "", errors.Join(fmt.Errorf("%w: the file has schema %d, and cannot be brought to %d, which this program reads, where it is: copy it to a folder that can be written to", skein.ErrReadOnly, v, s.Version()), cerr)
		case err == nil && cerr == nil:
			return mode, nil
		}
		errs = append(errs, err, cerr)
	}
	return "", engine.Classify(errors.Join(errs...))
}

func errVersion(have string) error {
	return fmt.Errorf("SQLite is %s, %s or later is needed", have, minVersion)
}

// Bring copies the store at from and migrates the copy to schema s. The error is
// the driver's, or that of [Migrate].
func (s Steps) Bring(ctx context.Context, d driver.Driver, from, to string) error {
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

// Whole refuses a backup that is not a complete store of schema s or an
// earlier one. The error wraps [skein.ErrNotFound], [skein.ErrCorrupt],
// [skein.ErrInvalid] or [skein.ErrNewer].
func (s Steps) Whole(ctx context.Context, d driver.Driver, path string) error {
	if err := files.Plain(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("file %w", skein.ErrNotFound)
		}
		return err
	}
	c, err := engine.Connect(d, engine.DSN(path, "mode=ro&immutable=1"))
	if err != nil {
		return notBackup(err)
	}
	v, err := FileVersion(c)
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
