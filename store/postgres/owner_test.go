package postgres_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

// Databases made by versions 13 and 14 are like this, even if later versions have taken
// them over.
func TestARoleWhoseDatabasesSchemaIsAnothersIsToldWhatToDo(t *testing.T) {
	open(t, pgtest.DSN(t)) // the roles are there
	dsn := pgtest.DSN(t)
	admin, err := url.Parse(pgtest.Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	own, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	admin.Path = own.Path
	pgtest.Exec(t, admin.String(), `ALTER SCHEMA public OWNER TO `+admin.User.Username(), `REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
	for range 2 {
		_, err = postgres.Open(t.Context(), dsn, postgres.Options{})
		if err == nil || !strings.Contains(err.Error(), "ALTER SCHEMA public OWNER TO") || strings.Contains(err.Error(), "ALTER DATABASE") {
			t.Errorf("Open of a database whose schema is another's = %v, want an error that says whose that should be", err)
		}
		pgtest.Exec(t, admin.String(), `GRANT CREATE ON SCHEMA public TO `+own.User.Username()) // not enough: it is not its to give
	}
	pgtest.Exec(t, admin.String(), `ALTER SCHEMA public OWNER TO `+own.User.Username())
	open(t, dsn)
}
