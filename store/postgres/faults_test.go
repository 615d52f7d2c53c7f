package postgres_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein/internal/pgtest"
)

func TestNothingIsLostWhenConnectionsAreEnded(t *testing.T) {
	c := pgtest.New(t, pgtest.Options{})
	address := c.DSN(t)
	w := begin(t, hardy(t, address), hardy(t, address))
	for range 20 {
		w.goes(3)
		pgtest.Exec(t, c.Admin(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'skein'`)
	}
	w.goes(50)
	w.calm(address)
}

func TestNothingIsLostWhenTheServerIsKilled(t *testing.T) {
	c := pgtest.New(t, pgtest.Options{})
	address := c.DSN(t)
	w := begin(t, hardy(t, address), hardy(t, address))
	for range 3 {
		w.goes(50)
		c.Kill(t)
		c.Start(t)
	}
	w.goes(50)
	w.calm(address)
}

func TestNothingIsLostWhenAStandbyTakesOver(t *testing.T) {
	first := pgtest.New(t, pgtest.Options{})
	address := first.DSN(t)
	second := first.Standby(t, pgtest.Options{})
	pgtest.Exec(t, first.Admin(), `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	waitFor(t, first.Admin(), `SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = first.Address() + "," + second.Address()
	u.RawQuery += "&target_session_attrs=read-write&connect_timeout=2"
	both := u.String()
	w := begin(t, hardy(t, both), hardy(t, both))
	w.goes(100)
	first.Kill(t)
	second.Promote(t)
	pgtest.Exec(t, second.Admin(), `ALTER SYSTEM SET synchronous_standby_names = ''`, `SELECT pg_reload_conf()`)
	w.goes(100)
	w.calm(strings.Replace(address, first.Address(), second.Address(), 1))
}

// waitFor waits until a query returns true.
func waitFor(t *testing.T, dsn, query string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	wait(t, query, func() (ok bool) {
		if err := c.QueryRow(t.Context(), query).Scan(&ok); err != nil {
			t.Fatal(err)
		}
		return ok
	})
}
