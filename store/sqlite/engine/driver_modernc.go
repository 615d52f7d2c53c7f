//go:build !cgosqlite

package engine

import (
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// DriverName is the name under which the driver is registered with database/sql.
const DriverName = "sqlite"

// PrepareDriver makes SQLite's locks on database files survive when other code
// in this process opens and closes the file. That is possible on Linux only,
// and only before the process's first lock; elsewhere nothing changes.
func PrepareDriver() {
	_, _ = sqlite.OFDLocking(true) //nolint:errcheck // what is not possible here is not needed for correctness
}

// Code returns SQLite's extended result code in err; 0 if err has none.
func Code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// CopyInto replaces, in one transaction, the database that to has open with the
// one at the URI from. sure is called once nobody else can write to it; if it
// returns an error, the database is left unchanged. The error is that of sure or of the
// driver.
func CopyInto(to *Conn, _ driver.Driver, from string, sure func() error) error {
	b, err := to.raw.(interface {
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

// CopyOut starts Copying the database that from has open to the empty file at
// the URI to. The error is the driver's.
func CopyOut(from *Conn, _ driver.Driver, to string) (*Copying, error) {
	b, err := from.raw.(interface {
		NewBackup(uri string) (*sqlite.Backup, error)
	}).NewBackup(to)
	if err != nil {
		return nil, err
	}
	return &Copying{Step: func(pages int) (bool, error) { return b.Step(int32(pages)) }, Finish: b.Finish}, nil
}
