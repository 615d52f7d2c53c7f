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
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

//go:embed schema/*.sql
var schemaFS embed.FS

const (
	// schemaVersion is the file's user_version; schema/0001.sql brings an
	// empty file to 1, and so on.
	schemaVersion = 1
	// applicationID marks the file as skein's: "Skn1".
	applicationID = 0x536b6e31
	// minVersion is the first SQLite whose WAL never loses a commit.
	minVersion = "3.51.3"
)

// shapePragmas shape a file before its first write; on one that has been
// written to, the last would write again what is there.
var shapePragmas = []string{
	"PRAGMA page_size = 4096",
	"PRAGMA auto_vacuum = INCREMENTAL",
}

// writerPragmas are set on the connection that writes.
var writerPragmas = []string{
	"PRAGMA busy_timeout = 500",
	"PRAGMA journal_mode = WAL",
	"PRAGMA synchronous = FULL",
	"PRAGMA secure_delete = FAST", // what is deleted is overwritten where that costs no further write
	"PRAGMA foreign_keys = 1",
	"PRAGMA journal_size_limit = 67108864",
	"PRAGMA wal_autocheckpoint = 16000",
	"PRAGMA cache_size = -16000",
	"PRAGMA mmap_size = 0",
	"PRAGMA trusted_schema = 0",
	"PRAGMA recursive_triggers = 0",
}

// openWriter opens the connection that writes and brings the file to
// schemaVersion. It looks before it touches anything.
func openWriter(ctx context.Context, d driver.Driver, path string, o Options) (_ *conn, err error) {
	if err := look(d, path); err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) && !readOnlyFS(err) {
		return nil, err
	}
	pragmas := writerPragmas
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		pragmas = slices.Concat(shapePragmas, writerPragmas)
	}
	c, err := openConn(d, dsn(path, "mode=rw"), pragmas...)
	if err != nil {
		return nil, classifyOpen(err)
	}
	steps, err := schemaSteps()
	if err == nil {
		err = migrate(ctx, c, path, o, steps)
	}
	if err != nil {
		return nil, errors.Join(classifyOpen(err), c.close())
	}
	return c, nil
}

// look refuses, without writing to it, a file that this version cannot have,
// and a SQLite that is too old.
func look(d driver.Driver, path string) error {
	if st, err := os.Stat(path); err == nil && st.Size() == 0 {
		return nil
	}
	// A file without a log is whole by itself, and nobody has it open. As an
	// immutable one SQLite does not make a log for it either.
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		if v, err := versionAs(d, path, "mode=ro&immutable=1"); err == nil {
			return refuse(v, nil)
		}
	}
	v, err := versionAs(d, path, "mode=ro")
	return refuse(v, classifyOpen(err))
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
func refuse(v int64, err error) error {
	if err == nil && v > schemaVersion {
		return fmt.Errorf("%w: the file has schema %d, this program knows %d: install a newer skein", skein.ErrNewer, v, schemaVersion)
	}
	return err
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
	var app, tables int64
	if _, err := c.one("PRAGMA application_id", nil, &app); err != nil {
		return 0, err
	}
	if _, err := c.one("PRAGMA user_version", nil, &v); err != nil {
		return 0, err
	}
	if _, err := c.one("SELECT count(*) FROM sqlite_schema", nil, &tables); err != nil {
		return 0, err
	}
	if app != applicationID && tables > 0 {
		return 0, fmt.Errorf("%w file: it is a database of another program (application ID %#x)", skein.ErrInvalid, app)
	}
	return v, nil
}

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

// migrate brings the file to the version that the last of steps brings it to,
// in one transaction, after a copy was made of it.
func migrate(ctx context.Context, c *conn, path string, o Options, steps []string) error {
	v, err := fileVersion(c)
	if err != nil || v == int64(len(steps)) {
		return err
	}
	if v > 0 && v < int64(len(steps)) {
		if err := copyFirst(c, path, v, o); err != nil {
			return err
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, _, err := c.exec("BEGIN IMMEDIATE"); err == nil {
			break
		} else if !busy(err) {
			return err
		}
	}
	if err := runSteps(c, steps); err != nil {
		_, _, rerr := c.exec("ROLLBACK")
		return errors.Join(err, rerr)
	}
	_, _, err = c.exec("COMMIT")
	return err
}

// copyFirst copies the file, as it is before the migration from version v.
func copyFirst(c *conn, path string, v int64, o Options) error {
	to := fmt.Sprintf("%s.v%d.bak", path, v)
	if _, err := os.Stat(to); err == nil {
		return nil // of an earlier attempt
	}
	if o.Notice != nil {
		o.Notice(fmt.Sprintf("migrating %s from schema %d to %d; a copy is in %s", path, v, schemaVersion, to))
	}
	tmp := to + ".tmp"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if _, _, err := c.exec("VACUUM INTO ?", tmp); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// schemaSteps returns the texts of schema/, in order.
func schemaSteps() (steps []string, err error) {
	for v := range schemaVersion {
		text, err := schemaFS.ReadFile(fmt.Sprintf("schema/%04d.sql", v+1))
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(text))
	}
	return steps, nil
}

// runSteps runs what is missing, in the caller's transaction. Another process
// may have done it meanwhile.
func runSteps(c *conn, steps []string) error {
	v, err := fileVersion(c)
	if err := refuse(v, err); err != nil {
		return err
	}
	for ; v < int64(len(steps)); v++ {
		if err := c.script(steps[v]); err != nil {
			return fmt.Errorf("schema %d: %w", v+1, err)
		}
	}
	return c.script(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(steps), applicationID))
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

// readOnlyMode returns how a file can be read that cannot be written to:
// with the -wal file if SQLite can make do with it, else as it is.
func readOnlyMode(d driver.Driver, path string) (string, error) {
	var errs []error
	for _, mode := range []string{"mode=ro", "mode=ro&immutable=1"} {
		if st, err := os.Stat(path + "-wal"); mode != "mode=ro" && err == nil && st.Size() > 0 {
			break // what the -wal file has would be missing
		}
		c, err := openConn(d, dsn(path, mode))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		v, err := fileVersion(c)
		if err == nil && v < schemaVersion {
			err = fmt.Errorf("%w: schema %d must first be brought to %d", skein.ErrReadOnly, v, schemaVersion)
		}
		cerr := c.close()
		if err == nil && cerr == nil {
			return mode, nil
		}
		errs = append(errs, err, cerr)
	}
	return "", classify(errors.Join(errs...))
}
