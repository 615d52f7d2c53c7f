//go:build unix

package pgtest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein/internal/pgtest"
)

func one(t *testing.T, dsn, query string) (got string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got
}

func TestEachTestHasAnEmptyDatabaseOfItsOwn(t *testing.T) {
	a, b := pgtest.DSN(t), pgtest.DSN(t)
	pgtest.Exec(t, a, `CREATE SCHEMA here`)
	pgtest.Exec(t, b, `CREATE SCHEMA here`)
	if got := one(t, a, `SELECT rolsuper::text FROM pg_roles WHERE rolname = current_user`); got != "false" && os.Getenv(pgtest.Env) == "" {
		t.Errorf("the role of a test's database is a superuser: %s", got)
	}
	if got := one(t, a, `SELECT lower('ÄÖ')`); got != "äö" {
		t.Errorf("lower('ÄÖ') = %q, want äö", got)
	}
}

func TestADatabaseEndsWithItsTest(t *testing.T) {
	var dsn string
	t.Run("inner", func(t *testing.T) { dsn = pgtest.DSN(t) })
	if dsn == "" {
		t.Skip("NO POSTGRESQL: see the test inside")
	}
	if _, err := pgx.Connect(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), "3D000") {
		t.Errorf("Connect after the test = %v, want that there is no such database", err)
	}
}

func TestAKilledClusterStartsAgain(t *testing.T) {
	c := pgtest.New(t, pgtest.Options{})
	dsn := c.DSN(t)
	pgtest.Exec(t, dsn, `CREATE TABLE here (n text)`, `INSERT INTO here VALUES ('kept')`)
	c.Kill(t)
	c.Start(t)
	if got := one(t, dsn, `SELECT n FROM here`); got != "kept" {
		t.Errorf("after kill -9 the row is %q, want kept", got)
	}
	c.Stop(t, "immediate")
	c.Start(t)
	if got := one(t, dsn, `SELECT n FROM here`); got != "kept" {
		t.Errorf("after an immediate stop the row is %q, want kept", got)
	}
}

func TestAStandbyTakesOver(t *testing.T) {
	c := pgtest.New(t, pgtest.Options{Settings: []string{"synchronous_standby_names = '*'", "synchronous_commit = local"}})
	dsn := c.DSN(t)
	s := c.Standby(t, pgtest.Options{})
	pgtest.Exec(t, dsn, `CREATE TABLE here (n text)`, `SET synchronous_commit = remote_apply`, `INSERT INTO here VALUES ('kept')`)
	c.Kill(t)
	s.Promote(t)
	if got := one(t, strings.Replace(dsn, c.Address(), s.Address(), 1), `INSERT INTO here VALUES ('new') RETURNING (SELECT n FROM here)`); got != "kept" {
		t.Errorf("the standby has the row %q, want kept", got)
	}
}

func TestAClusterEndsWithItsTest(t *testing.T) {
	var pid int
	t.Run("inner", func(t *testing.T) { pid = pgtest.New(t, pgtest.Options{}).Postmaster(t) })
	if pid == 0 {
		t.Skip("NO POSTGRESQL: see the test inside")
	}
	deadline, tick := time.After(5*time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		select {
		case <-deadline:
			t.Fatalf("postmaster %d still runs", pid)
		case <-tick.C:
		}
	}
}
