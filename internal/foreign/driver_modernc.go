//go:build !cgosqlite

package foreign

import (
	"database/sql"
	"errors"
	"net/url"

	"modernc.org/sqlite"
)

const driverName = "sqlite"

// dsn returns the URI of a database file, with SQLite's defensive flag: no
// statement changes the schema directly or the tables behind a virtual table.
func dsn(path string, mode string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=" + mode + "&_defensive=1"}
	return u.String()
}

func limit(c *sql.Conn, id, n int) error {
	_, err := sqlite.Limit(c, id, n)
	return err
}

// code returns SQLite's result code in err; 0 if it has none.
func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
