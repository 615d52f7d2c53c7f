//go:build cgosqlite

package sqlite

import (
	"database/sql/driver"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// driverName is the name under which the driver is registered with database/sql.
const driverName = "sqlite3"

// prepareDriver does nothing: this driver has only POSIX locks.
func prepareDriver() {}

// resultCode returns SQLite's extended result code in err; 0 if err has none.
func resultCode(err error) int {
	if e := (sqlite3.Error{}); errors.As(err, &e) {
		if e.ExtendedCode != 0 {
			return int(e.ExtendedCode)
		}
		return int(e.Code)
	}
	return 0
}

// copyInto replaces, in one transaction, the database that to has open with the
// one at the URI from. sure is called once nobody else can write to it; if it
// returns an error, the database is left unchanged.
func copyInto(to driver.Conn, d driver.Driver, from string, sure func() error) (err error) {
	src, err := d.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	b, err := to.(*sqlite3.SQLiteConn).Backup("main", src.(*sqlite3.SQLiteConn), "main")
	if err != nil {
		return err
	}
	if _, err = b.Step(1); err == nil { // the first page takes the lock
		if err = sure(); err == nil {
			_, err = b.Step(-1)
		}
	}
	return errors.Join(err, b.Finish())
}

// copyOut starts copying the database that from has open to the empty file at
// the URI to.
func copyOut(from driver.Conn, d driver.Driver, to string) (*copying, error) {
	dst, err := d.Open(to)
	if err != nil {
		return nil, err
	}
	b, err := dst.(*sqlite3.SQLiteConn).Backup("main", from.(*sqlite3.SQLiteConn), "main")
	if err != nil {
		return nil, errors.Join(err, dst.Close())
	}
	return &copying{
		step:   func(pages int) (bool, error) { done, err := b.Step(pages); return !done, err },
		finish: func() error { return errors.Join(b.Finish(), dst.Close()) },
	}, nil
}
