package foreign

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Deadline is how long the statements on one database may take in total.
const Deadline = 10 * time.Minute

// MaxValue is the longest value that is read, in bytes. A row with a longer one counts
// as damaged.
const MaxValue = 16 << 20

// maxWritten is the longest row that is written, in bytes: SQLite's default limit
// (https://www.sqlite.org/limits.html), so that other programs can read it.
const maxWritten = 1_000_000_000

// SQLite's limits, by number (https://www.sqlite.org/c3ref/c_limit_attached.html).
const (
	limitLength   = 0
	limitSQL      = 1
	limitColumn   = 2
	limitDepth    = 3
	limitAttached = 7
)

// Result codes (https://www.sqlite.org/rescode.html).
const (
	codeCorrupt = 11
	codeTooBig  = 18
	codeNotADB  = 26
)

// A DB is a copy of a database, opened for reading. It is used by one goroutine
// at a time.
type DB struct {
	dir    string
	db     *sql.DB
	conn   *sql.Conn
	ctx    context.Context
	cancel context.CancelFunc
	frame  schema
	tables []Table
	pieces *Pieces // of the last Split; nil before
	damage []string
}

// ErrNone says that a file is not a database, or that its schema is damaged.
var ErrNone = errors.New("no database that can be read")

// Open copies the database at path and opens the copy. The copy is in a folder of its
// own among the system's temporary files until Close.
//
// The error wraps [ErrBusy] or [ErrNone]; others are those of reading the file.
// ctx ends everything that is done with the DB.
func Open(ctx context.Context, path string) (_ *DB, err error) {
	dir, err := os.MkdirTemp("", "skein-foreign-")
	if err != nil {
		return nil, err
	}
	db := &DB{dir: dir}
	db.ctx, db.cancel = context.WithTimeout(ctx, Deadline)
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if err := copyAll(db.ctx, path, dir); err != nil {
		return nil, err
	}
	err = db.open()
	if err == nil {
		err = db.readSchema()
	}
	if c := code(err); c == codeNotADB || c == codeCorrupt {
		err = fmt.Errorf("%w: %w", ErrNone, err)
	}
	return db, err
}

func (db *DB) open() (err error) {
	at := filepath.Join(db.dir, copyName)
	mode := "ro"
	if _, err := os.Lstat(at + "-journal"); err == nil {
		mode = "rw" // what was not committed is rolled back
	}
	if db.db, err = sql.Open(driverName, dsn(filepath.ToSlash(at), mode)); err != nil {
		return err
	}
	db.db.SetMaxOpenConns(1)
	if db.conn, err = db.db.Conn(db.ctx); err != nil {
		return err
	}
	if err := guard(db.ctx, db.conn, MaxValue+1<<20); err != nil {
		return err
	}
	_, err = db.conn.ExecContext(db.ctx, "PRAGMA query_only = 1")
	return err
}

// guard sets limits that a database cannot change; length is how long a row may be, in
// bytes.
func guard(ctx context.Context, c *sql.Conn, length int) error {
	for id, n := range map[int]int{limitLength: length, limitSQL: 1 << 20, limitColumn: 400, limitDepth: 100, limitAttached: 0} {
		if err := limit(c, id, n); err != nil {
			return err
		}
	}
	for _, p := range []string{"trusted_schema = 0", "cell_size_check = 1", "mmap_size = 0", "foreign_keys = 0", "cache_size = -8000"} {
		if _, err := c.ExecContext(ctx, "PRAGMA "+p); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the copy. Errors are the system's.
func (db *DB) Close() error {
	db.cancel()
	var errs []error
	if db.conn != nil {
		errs = append(errs, db.conn.Close())
	}
	if db.db != nil {
		errs = append(errs, db.db.Close())
	}
	errs = append(errs, db.pieces.close(), os.RemoveAll(db.dir))
	return errors.Join(errs...)
}

// Damage returns what could not be read so far, in words for people.
func (db *DB) Damage() []string { return db.damage }

func (db *DB) harm(format string, args ...any) {
	if len(db.damage) < 100 {
		db.damage = append(db.damage, fmt.Sprintf(format, args...))
	}
}

// quote returns name as an SQL identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
