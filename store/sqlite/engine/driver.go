package engine

import (
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
)

// A Copying copies a database page by page. Finish must always be called.
type Copying struct {
	Step   func(pages int) (more bool, err error) // copies the next pages
	Finish func() error
}

// Driver returns the driver, whose connections are used directly, without
// database/sql (see [Conn]). The error is that of package sql.
func Driver() (driver.Driver, error) {
	db, err := sql.Open(DriverName, "")
	if err != nil {
		return nil, err
	}
	return db.Driver(), db.Close() // it has not opened anything
}

// DSN returns the URI that names the file for the drivers, which pass it to SQLite.
func DSN(path, mode string) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		p = "/" + p
	}
	return "file:" + (&url.URL{Path: p}).EscapedPath() + "?" + mode
}

const (
	// Immutable is the mode of a file that, as SQLite is told, nobody writes to.
	Immutable = "mode=ro&immutable=1"

	// Shmless is the mode of a file whose log index is in this process's memory,
	// because the disk has no room for it. Other processes are locked out.
	Shmless = "mode=rw&vfs=unix-excl"
)
