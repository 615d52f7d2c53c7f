package sqlite

import (
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
)

// look returns an error, without writing to the file, if this version cannot
// use it or if SQLite is too old.
func look(d driver.Driver, path string, s schema) error {
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
	v, err = fileVersion(c)
	return v, errors.Join(err, c.Close())
}

// refuse returns err or, if that is nil, an error if version v is too new.
func (s schema) refuse(v int64, err error) error {
	if err == nil && v > s.version() {
		return fmt.Errorf("%w: the file has schema %d, this program knows %d: install a newer skein", skein.ErrNewer, v, s.version())
	}
	return err
}

// same returns an error if another program has brought the file to schema v since it
// was opened, because what this one would write does not fit. v is 0 if unknown.
func (s schema) same(v int64) error {
	switch {
	case v > s.version():
		return fmt.Errorf("%w: a newer skein has brought the file to schema %d while this program, which knows %d, had it open: end this program and start the newer one", skein.ErrNewer, v, s.version())
	case v != 0 && v < s.version():
		return fmt.Errorf("%w: the file has schema %d, it had %d when it was opened; open it again", skein.ErrReplaced, v, s.version())
	}
	return nil
}

// fileVersion returns the file's schema version, 0 for an empty file.
func fileVersion(c *engine.Conn) (v int64, err error) {
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
	case tables == 0 || app == applicationID:
		return v, nil
	case slices.Contains(developmentIDs, app):
		return 0, errDevelopment
	default:
		return 0, fmt.Errorf("%w file: it is a database of another program (application ID %#x)", skein.ErrInvalid, app)
	}
}

// errDevelopment says what to do with a store from a build that was never released.
var errDevelopment = fmt.Errorf("%w file: a development build of skein, from before the first release, created it, and no release can read it\n"+
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

// readOnlyMode returns the mode in which a file that cannot be written to can
// be read: with the -wal file if SQLite can use it, as immutable if there is
// none, otherwise with the log index in memory.
func readOnlyMode(d driver.Driver, path string, s schema) (string, error) {
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
		v, err := fileVersion(c)
		if err == nil && v < s.version() {
			err = fmt.Errorf("%w: schema %d must first be brought to %d", skein.ErrReadOnly, v, s.version())
		}
		cerr := c.Close()
		if err == nil && cerr == nil {
			return mode, nil
		}
		errs = append(errs, err, cerr)
	}
	return "", engine.Classify(errors.Join(errs...))
}
