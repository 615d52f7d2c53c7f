//go:build !cgosqlite

package sqlite

import (
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// driverName is the name under which the driver is registered with database/sql.
const driverName = "sqlite"

// prepareDriver makes SQLite's locks on database files survive when other code
// in this process opens and closes the file. That is possible on Linux only,
// and only before the process's first lock; elsewhere nothing changes.
func prepareDriver() {
	_, _ = sqlite.OFDLocking(true) //nolint:errcheck // what is not possible here is not needed for correctness
}

// resultCode returns SQLite's extended result code in err; 0 if err has none.
func resultCode(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// copyInto replaces, in one transaction, the database that to has open with the
// one at the URI from. sure is called once nobody else can write to it; if it
// returns an error, the database is left unchanged.
func copyInto(to driver.Conn, _ driver.Driver, from string, sure func() error) error {
	b, err := to.(interface {
		NewRestore(uri string) (*sqlite.Backup, error)
	}).NewRestore(from)
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
func copyOut(from driver.Conn, _ driver.Driver, to string) (*copying, error) {
	b, err := from.(interface {
		NewBackup(uri string) (*sqlite.Backup, error)
	}).NewBackup(to)
	if err != nil {
		return nil, err
	}
	return &copying{step: func(pages int) (bool, error) { return b.Step(int32(pages)) }, finish: b.Finish}, nil
}
