//go:build cgosqlite

package foreign

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"github.com/mattn/go-sqlite3"
)

const driverName = "sqlite3"

// dsn returns the URI of a database file. This driver cannot set SQLite's
// defensive flag; query_only, which is set on every connection that reads,
// keeps statements from changing anything.
func dsn(path string, mode string) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: "mode=" + mode}
	return u.String()
}

func limit(c *sql.Conn, id, n int) error {
	return c.Raw(func(dc any) error {
		s, ok := dc.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("connection is a %T", dc)
		}
		s.SetLimit(id, n)
		return nil
	})
}

// code returns SQLite's result code in err; 0 if it has none.
func code(err error) int {
	if e := (sqlite3.Error{}); errors.As(err, &e) {
		return int(e.Code)
	}
	return 0
}
