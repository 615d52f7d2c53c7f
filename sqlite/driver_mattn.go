//go:build cgosqlite

package sqlite

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// driverName is what the driver is registered as with database/sql.
const driverName = "sqlite3"

// prepareDriver does nothing: this driver has POSIX locks only.
func prepareDriver() {}

// resultCode returns SQLite's extended result code in err; 0 if it has none.
func resultCode(err error) int {
	if e := (sqlite3.Error{}); errors.As(err, &e) {
		if e.ExtendedCode != 0 {
			return int(e.ExtendedCode)
		}
		return int(e.Code)
	}
	return 0
}
