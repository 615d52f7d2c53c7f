package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// look refuses, without writing to it, a file that this version cannot have,
// and a SQLite that is too old.
func look(d driver.Driver, path string, s schema) error {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		return nil
	}
	// A file without a log is whole by itself, and nobody has it open. As an
	// immutable one SQLite does not make a log for it either.
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		if v, err := versionAs(d, path, "mode=ro&immutable=1"); err == nil {
			return s.refuse(v, nil)
		}
	}
	v, err := versionAs(d, path, "mode=ro")
	return s.refuse(v, classifyOpen(err))
}

// versionAs opens the file in a mode, and returns its schema version.
func versionAs(d driver.Driver, path, mode string) (v int64, err error) {
	c, err := openConn(d, dsn(path, mode), "PRAGMA busy_timeout = 5000")
	if err != nil {
		return 0, err
	}
	v, err = fileVersion(c)
	return v, errors.Join(err, c.close())
}

// refuse returns err, or that version v is too new.
func (s schema) refuse(v int64, err error) error {
	if err == nil && v > s.version() {
		return fmt.Errorf("%w: the file has schema %d, this program knows %d: install a newer skein", skein.ErrNewer, v, s.version())
	}
	return err
}

// same refuses a file that another program has brought to schema v since it
// was opened, 0 if that is not known: what this one would write to it does not fit.
func (s schema) same(v int64) error {
	switch {
	case v > s.version():
		return fmt.Errorf("%w: a newer skein has brought the file to schema %d while this program, which knows %d, had it open: end this one and start the newer", skein.ErrNewer, v, s.version())
	case v != 0 && v < s.version():
		return fmt.Errorf("%w: the file has schema %d, it had %d when it was opened; open it again", skein.ErrReplaced, v, s.version())
	}
	return nil
}

// fileVersion returns the file's schema version, 0 for an empty file.
func fileVersion(c *conn) (v int64, err error) {
	var sqlite string
	if _, err := c.one("SELECT sqlite_version()", nil, &sqlite); err != nil {
		return 0, err
	}
	if older(sqlite, minVersion) {
		return 0, errVersion(sqlite)
	}
	// The tables first: another process may begin the file between two of
	// these, and whose tables they are is stored with them.
	var app, tables int64
	if _, err := c.one("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
		return 0, err
	}
	if _, err := c.one("PRAGMA application_id", nil, &app); err != nil {
		return 0, err
	}
	if _, err := c.one("PRAGMA user_version", nil, &v); err != nil {
		return 0, err
	}
	switch {
	case tables == 0 || app == applicationID:
		return v, nil
	case app == developmentID:
		return 0, errDevelopment
	default:
		return 0, fmt.Errorf("%w file: it is a database of another program (application ID %#x)", skein.ErrInvalid, app)
	}
}

// errDevelopment says what to do with a store of a build that was never released.
var errDevelopment = fmt.Errorf("%w file: a development build of skein made it, before the first release, and no release reads it\n"+
	"write its sessions with that build (skein export NAME --to skein -o FILE), move the file away, and read them with this one (skein import FILE)", skein.ErrInvalid)

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

// classifyOpen is classify for what comes while the file is being opened,
// where a folder that cannot be written to shows as a file that cannot be
// opened.
func classifyOpen(err error) error {
	if err != nil && resultCode(err)&0xff == codeCantOpen {
		return fmt.Errorf("%w: %w", skein.ErrReadOnly, err)
	}
	return classify(err)
}

const (
	// immutable is the mode of a file that nobody writes to, as SQLite is told.
	immutable = "mode=ro&immutable=1"

	// shmless is the mode of a file whose log's index this process has in its
	// memory, where there is no room for it on the disk. Others are kept out.
	shmless = "mode=rw&vfs=unix-excl"
)

// readOnlyMode returns how a file can be read that cannot be written to:
// with the -wal file if SQLite can make do with it, as it is if there is none,
// else with what SQLite keeps beside it in memory.
func readOnlyMode(d driver.Driver, path string, s schema) (string, error) {
	var errs []error
	for _, mode := range []string{"mode=ro", immutable, shmless} {
		if st, err := os.Stat(path + "-wal"); mode == immutable && err == nil && st.Size() > 0 {
			continue // what the -wal file has would be missing
		}
		c, err := openConn(d, dsn(path, mode))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		v, err := fileVersion(c)
		if err == nil && v < s.version() {
			err = fmt.Errorf("%w: schema %d must first be brought to %d", skein.ErrReadOnly, v, s.version())
		}
		cerr := c.close()
		if err == nil && cerr == nil {
			return mode, nil
		}
		errs = append(errs, err, cerr)
	}
	return "", classify(errors.Join(errs...))
}
