package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Env is the environment variable with the address of another server to test on.
const Env = "SKEIN_TEST_POSTGRES"

// shared is the cluster of all test processes, which this process joins once.
var shared = sync.OnceValues(join)

// patience is how long anything of a cluster may take to begin or to end.
const patience = 5 * time.Minute

// DSN returns the address of a new, empty database, which is dropped when the
// test ends. Its role owns the database and may create roles; it is not a
// superuser. If there is no server, the test is skipped, or fails if CI=true.
func DSN(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(Env); dsn != "" {
		return database(t, dsn, "")
	}
	c, err := shared()
	if err != nil {
		without(t, err)
	}
	return c.DSN(t)
}

// Copy returns the address of a new database that is a copy of the one at dsn, which
// DSN returned and to which nobody is connected. It is dropped when the test ends.
func Copy(t testing.TB, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s: not an address: %v", dsn, err)
	}
	admin, owner := Admin(t), application
	if os.Getenv(Env) != "" {
		owner = ""
	}
	return databaseLike(t, admin, owner, strings.TrimPrefix(u.Path, "/"))
}

// As returns the address dsn for connections that begin as another role, which its
// own role may assume.
func As(t testing.TB, dsn, role string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s: not an address: %v", dsn, err)
	}
	q := u.Query()
	q.Set("role", role)
	u.RawQuery = q.Encode()
	return u.String()
}

// Admin returns the address of the maintenance database of the server that
// [DSN] makes databases on, as a superuser (on the server that SKEIN_TEST_POSTGRES
// names: as its role), to read pg_stat_activity or terminate backends.
func Admin(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(Env); dsn != "" {
		return dsn
	}
	c, err := shared()
	if err != nil {
		without(t, err)
	}
	return c.Admin()
}

// without ends a test that has no server.
func without(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("no PostgreSQL to test on: %v", err)
	}
	t.Skipf("NO POSTGRESQL: %v\ninstall it (Debian: apt-get install postgresql), or set %s=postgres://… to a server whose role may create databases and roles", err, Env)
}

// database creates an empty database on the server at admin and returns its address
// for owner, or for the role of admin if owner is "".
func database(t testing.TB, admin, owner string) string {
	t.Helper()
	return databaseLike(t, admin, owner, "template0")
}

// databaseLike is database for a copy of another database.
func databaseLike(t testing.TB, admin, owner, template string) string {
	t.Helper()
	name := "skein_" + strings.ToLower(rand.Text())[:16]
	statement := `CREATE DATABASE ` + name + ` TEMPLATE ` + template + ` ENCODING 'UTF8'`
	if owner != "" {
		statement += ` OWNER ` + owner
	}
	// Other tests create roles, which belong to the whole cluster.
	Exec(t, admin, statement, `REVOKE CONNECT ON DATABASE `+name+` FROM PUBLIC`)
	t.Cleanup(func() { drop(t, admin, name) })
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("%s: not an address: %v", Env, err)
	}
	u.Path = "/" + name
	if template == "template0" {
		Exec(t, u.String(), asLater(cmp.Or(owner, "CURRENT_USER")))
	}
	if password, ok := u.User.Password(); ok && owner != "" {
		u.User = url.UserPassword(owner, password)
	}
	return u.String()
}

// asLater makes the schema of a database as it is from version 15 on: it belongs to
// the database's owner, and nobody else creates anything in it.
func asLater(owner string) string {
	return `DO $$ BEGIN
	IF current_setting('server_version_num')::int < 150000 THEN
		ALTER SCHEMA public OWNER TO ` + owner + `;
		REVOKE CREATE ON SCHEMA public FROM PUBLIC;
	END IF;
EXCEPTION WHEN insufficient_privilege THEN NULL; -- who says which server to test on has made it so, or is warned of it
END $$`
}

// drop removes a database, even if a test left connections or killed the server. If
// the cluster is gone, there is nothing to remove.
func drop(t testing.TB, admin, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) //nolint:usetesting // the test's own has ended
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Logf("database %s stays: %v", name, err)
		return
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing was changed by it
	if _, err := conn.Exec(ctx, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
		t.Logf("database %s stays: %v", name, err)
	}
}

// Exec runs SQL statements, one by one, on a connection of its own. The test fails if
// they are not done in time.
func Exec(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background()) //nolint:errcheck,usetesting // says good-bye, also when ctx has ended
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
