//go:build cgosqlite

package engine

import (
	"database/sql/driver"
	"errors"

	"github.com/mattn/go-sqlite3"
)

// DriverName is the name under which the driver is registered with database/sql.
const DriverName = "sqlite3"

// PrepareDriver does nothing: this driver has only POSIX locks.
func PrepareDriver() {}

// Code returns SQLite's extended result code in err; 0 if err has none.
func Code(err error) int {
	if e := (sqlite3.Error{}); errors.As(err, &e) {
		if e.ExtendedCode != 0 {
			return int(e.ExtendedCode)
		}
		return int(e.Code)
	}
	return 0
}

// CopyInto replaces, in one transaction, the database that to has open with the
// one at the URI from. sure is called once nobody else can write to it; if it
// returns an error, the database is left unchanged. The error is that of sure or of the
// driver.
func CopyInto(to *Conn, d driver.Driver, from string, sure func() error) (err error) {
	src, err := d.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	b, err := to.raw.(*sqlite3.SQLiteConn).Backup("main", src.(*sqlite3.SQLiteConn), "main")
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

// CopyOut starts Copying the database that from has open to the empty file at
// the URI to. The error is the driver's.
func CopyOut(from *Conn, d driver.Driver, to string) (*Copying, error) {
	dst, err := d.Open(to)
	if err != nil {
		return nil, err
	}
	b, err := dst.(*sqlite3.SQLiteConn).Backup("main", from.raw.(*sqlite3.SQLiteConn), "main")
	if err != nil {
		return nil, errors.Join(err, dst.Close())
	}
	return &Copying{
		Step:   func(pages int) (bool, error) { done, err := b.Step(pages); return !done, err },
		Finish: func() error { return errors.Join(b.Finish(), dst.Close()) },
	}, nil
}
