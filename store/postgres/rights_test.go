package postgres_test

import (
	"context"
	"crypto/sha256"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres"
)

// The owner of the database is not a superuser, as with most providers. Its dump has
// everything; restored, even in a cluster that never had a skein, it is a store like
// the first one.
func TestADumpOfTheOwnersIsACopy(t *testing.T) {
	first := pgtest.New(t, pgtest.Options{})
	dsn := first.DSN(t)
	s := open(t, dsn)
	add(t, s.As("ann"), "a", created(), said("a kettle"))
	add(t, s.As("bob"), "b", created(), said("a kettle too"))
	if err := s.AddUser(t.Context(), accounts.Account{User: "ann"}); err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte("x"))
	if err := s.AddAccess(t.Context(), accounts.Access{Name: "anns", User: "ann", Scope: "write", Hash: hash}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	dump := filepath.Join(t.TempDir(), "dump.sql")
	out, err := exec.Command(filepath.Join(first.Bin, "pg_dump"), "--role=skein_all", "--enable-row-security", "--no-owner", "-f", dump, dsn).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_dump as the owner: %v: %s", err, out)
	}
	for name, to := range map[string]string{"in the same cluster": first.DSN(t), "in another": pgtest.New(t, pgtest.Options{}).DSN(t)} {
		t.Run(name, func(t *testing.T) {
			// It may report missing roles; skein makes them later.
			if out, err := exec.Command(filepath.Join(first.Bin, "psql"), "-q", "-X", "-c", "SET ROLE pg_database_owner", "-c", "GRANT CREATE ON SCHEMA public TO SESSION_USER", "-c", "RESET ROLE", "-f", dump, to).CombinedOutput(); err != nil {
				t.Fatalf("psql: %v: %s", err, out)
			}
			isTheCopy(t, open(t, to), hash)
			wantApart(t, to)
		})
	}
}

// isTheCopy fails the test unless s has what the test above has dumped and can be
// written to.
func isTheCopy(t *testing.T, s *postgres.Store, hash [sha256.Size]byte) {
	t.Helper()
	add(t, s.As("ann"), "a", said("another kettle"))
	for user, want := range map[skein.User]int{"ann": 1, "bob": 1, "eve": 0, "": 2} {
		r, err := s.As(user).Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{"kettle"}}}})
		if err != nil || len(r.Hits) != want {
			t.Errorf("Search as %q yields %d hits, %v, want %d", user, len(r.Hits), err, want)
		}
	}
	if x, err := s.As("ann").Session(t.Context(), "a"); err != nil || x.Last != 3 {
		t.Errorf("Session(a) as ann = %d, %v, want 3 events", x.Last, err)
	}
	if _, err := s.As("ann").Session(t.Context(), "b"); err == nil {
		t.Error("ann sees what is bob's")
	}
	if a, err := s.FindAccesses(t.Context(), [][32]byte{hash}); err != nil || len(a) != 1 || a[0].User != "ann" {
		t.Errorf("FindAccesses = %+v, %v, want ann's", a, err)
	}
	for f, err := range s.Examine(t.Context(), inspect.Examination{}) {
		if err != nil || f.Level != inspect.Fine {
			t.Errorf("Examine says %+v, %v", f, err)
		}
	}
}

// The server is configured with short timeouts, and makes every transaction
// serializable. Programs that start at once still wait for the one that makes the
// tables.
func TestWhoMakesTheTablesIsWaitedFor(t *testing.T) {
	dsn := pgtest.DSN(t)
	name := databaseOf(t, dsn)
	for _, setting := range []string{`lock_timeout = '1ms'`, `default_transaction_isolation = 'serializable'`} {
		pgtest.Exec(t, pgtest.Admin(t), `ALTER DATABASE `+name+` SET `+setting)
	}
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if _, err := c.Exec(t.Context(), `SELECT pg_advisory_lock(x'736b65696e01'::bigint)`); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 3)
	for range cap(opened) {
		go func() {
			s, err := postgres.Open(context.Background(), dsn, postgres.Options{})
			if err == nil {
				err = s.Close()
			}
			opened <- err
		}()
	}
	wait(t, "all wait", func() bool {
		waiting := 0
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		return waiting == cap(opened) || len(opened) > 0
	})
	if _, err := c.Exec(t.Context(), `SELECT pg_advisory_unlock_all()`); err != nil {
		t.Fatal(err)
	}
	for range cap(opened) {
		if err := <-opened; err != nil {
			t.Errorf("Open = %v", err)
		}
	}
}

func TestARoleThatMayNotMakeTablesIsToldWhatToDo(t *testing.T) {
	open(t, pgtest.DSN(t)) // the roles are there
	dsn := pgtest.DSN(t)
	admin, err := url.Parse(pgtest.Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	name := databaseOf(t, dsn)
	pgtest.Exec(t, admin.String(), `ALTER DATABASE `+name+` OWNER TO `+admin.User.Username(), `GRANT CONNECT ON DATABASE `+name+` TO PUBLIC`)
	admin.Path = "/" + name
	pgtest.Exec(t, admin.String(), `ALTER SCHEMA public OWNER TO `+admin.User.Username(), `REVOKE CREATE ON SCHEMA public FROM PUBLIC`)
	if _, err = postgres.Open(t.Context(), dsn, postgres.Options{}); err == nil || !strings.Contains(err.Error(), "ALTER DATABASE") {
		t.Errorf("Open of a database that is another's = %v, want an error that says whose it should be", err)
	}
}

// Roles belong to the cluster, in which other people may own other databases.
func TestExamineNamesWhoElseMayReadTheDatabase(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	name := databaseOf(t, dsn)
	admin, err := url.Parse(pgtest.Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	if w := warnings(t, s); len(w) != 0 {
		t.Errorf("Examine warns of %q in a database that is its role's alone", w)
	}
	other := "other_" + name
	pgtest.Exec(t, admin.String(), `CREATE ROLE `+other+` LOGIN`, `GRANT CONNECT ON DATABASE `+name+` TO PUBLIC`)
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), admin.String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
		if _, err := c.Exec(context.Background(), `DROP ROLE `+other); err != nil {
			t.Error(err)
		}
	})
	for _, role := range []string{"skein_all", "skein_user"} { // who may be a user says which
		pgtest.Exec(t, admin.String(), `REVOKE skein_all, skein_user FROM `+other, `GRANT `+role+` TO `+other)
		if w := warnings(t, s); len(w) != 1 || !strings.Contains(w[0], other) || !strings.Contains(w[0], "REVOKE CONNECT") {
			t.Errorf("Examine warns of %q, want the role %s, a member of %s", w, other, role)
		}
	}
	here := *admin
	here.Path = "/" + name
	pgtest.Exec(t, here.String(), `REVOKE CONNECT ON DATABASE `+name+` FROM PUBLIC`, `GRANT CREATE ON SCHEMA public TO PUBLIC`)
	if w := warnings(t, s); len(w) != 1 || !strings.Contains(w[0], "REVOKE CREATE") {
		t.Errorf("Examine warns of %q, want that everybody may make functions", w)
	}
}

func TestExamineSaysWhereRowSecurityDoesNotHold(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	s := open(t, server.DSN(t))
	pgtest.Exec(t, server.Admin(), `ALTER ROLE skein_user BYPASSRLS`)
	warned := 0
	for f, err := range s.Examine(t.Context(), inspect.Examination{}) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Area == "rights" && f.Level == inspect.Warning && strings.Contains(f.Text, "ALTER ROLE skein_user NOSUPERUSER NOBYPASSRLS") {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("Examine warns %d times of a role that gets by row security, want once", warned)
	}
}
