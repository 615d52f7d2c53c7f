package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

func TestNodesThatStartAtOnceMigrateOnce(t *testing.T) {
	dsn := pgtest.DSN(t)
	var wg sync.WaitGroup
	stores := make([]*postgres.Store, 6)
	for i := range stores {
		wg.Go(func() {
			s, err := postgres.Open(context.Background(), dsn, postgres.Options{})
			if err != nil {
				t.Errorf("Open of node %d = %v", i, err)
				return
			}
			stores[i] = s
		})
	}
	wg.Wait()
	for i, s := range stores {
		if s == nil {
			continue
		}
		add(t, s, skein.SessionID(fmt.Sprint("s", i)), created())
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
}

func TestAnErrorOfOpenNamesThePlaceAndNoPassword(t *testing.T) {
	for _, address := range []string{
		"postgres://ann:hush-hush@127.0.0.1:1/team", "postgres://ann:hush-hush@127.0.0.1:port/team",
		"postgres://ann:hush-hush@127.0.0.1:1/team?sslmode=no-such-mode", "host=127.0.0.1 port=1 user=ann password=hush-hush dbname=team",
		`host=127.0.0.1 port=x password='a\'hush hush'`, `host=127.0.0.1 password='a\'hush hush`, "host=127.0.0.1 password=a hush hush=1", "host=127.0.0.1 password = hush sslmode=no-such-mode",
	} {
		_, err := postgres.Open(t.Context(), address, postgres.Options{})
		if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("Open(%s) = %v, want an error that names 127.0.0.1 and no password", address, err)
		}
		if refused := err != nil && strings.Contains(err.Error(), "refused"); errors.Is(err, skein.ErrAway) != refused {
			t.Errorf("Open(%s) = %v, wraps %v: %v, want %v", address, err, skein.ErrAway, !refused, refused)
		}
	}
}

func TestARoleThatMayNotMakeRolesIsToldWhatToRun(t *testing.T) {
	dsn := pgtest.DSN(t)
	name := "skein_plain_" + strings.TrimPrefix(databaseOf(t, dsn), "skein_")
	pgtest.Exec(t, pgtest.Admin(t), `CREATE ROLE `+name+` LOGIN PASSWORD 'hush-hush'`, `GRANT CONNECT ON DATABASE `+databaseOf(t, dsn)+` TO `+name)
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), pgtest.Admin(t))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
		if _, err := c.Exec(context.Background(), `REVOKE CONNECT ON DATABASE `+databaseOf(t, dsn)+` FROM `+name+`; DROP ROLE `+name); err != nil {
			t.Error(err)
		}
	})
	s := open(t, dsn) // the roles are there now
	add(t, s, "a", created())
	runs := func(sql string) {
		t.Helper()
		pgtest.Exec(t, pgtest.Admin(t), sql)
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "hush-hush")
	_, err = postgres.Open(t.Context(), u.String(), postgres.Options{})
	if err == nil || !strings.Contains(err.Error(), "GRANT skein_user, skein_all TO") || strings.Contains(err.Error(), "hush") {
		t.Errorf("Open as a role that may take none = %v, want an error that says what to run", err)
	}
	runs(`GRANT skein_user, skein_all TO ` + name)
	plain := open(t, u.String()) // it owns nothing, and needs not
	add(t, plain.As("ann"), "b", created(), said("x"))
	if x, err := plain.Session(t.Context(), "a"); err != nil || x.Last != 1 {
		t.Errorf("Session(a) of a role that owns nothing = %+v, %v", x, err)
	}
}

func databaseOf(t *testing.T, dsn string) string {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.Database
}

// onePool returns the address with one connection for all.
func onePool(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("pool_max_conns", "1")
	u.RawQuery = q.Encode()
	return u.String()
}

func TestUsersInTurnOnOneConnectionSeeTheirOwn(t *testing.T) {
	s := open(t, onePool(t, pgtest.DSN(t)))
	users := []skein.User{"ann", "bob", "cy"}
	var wg sync.WaitGroup
	for _, u := range users {
		v, id := s.As(u), skein.SessionID("of-"+u)
		add(t, v, id, created())
		for range 2 {
			wg.Go(func() {
				for i := range 20 {
					add(t, v, id, said(fmt.Sprint("of ", u, i)))
					n := 0
					for x, err := range v.Sessions(context.Background(), skein.Filter{IncludeEmpty: true}) {
						if err != nil || x.User != u {
							t.Errorf("Sessions of %s yields one of %s, %v", u, x.User, err)
						}
						n++
					}
					if n != 1 {
						t.Errorf("Sessions of %s yields %d, want 1", u, n)
					}
					for _, other := range users {
						if _, err := v.Session(context.Background(), "of-"+skein.SessionID(other)); (err == nil) != (other == u) {
							t.Errorf("Session(of-%s) of %s = %v", other, u, err)
						}
						_, err := v.Append(context.Background(), skein.Batch{Session: "of-" + skein.SessionID(other), Events: []skein.Event{said("x")}})
						if other != u && !errors.Is(err, skein.ErrNotFound) {
							t.Errorf("Append(of-%s) of %s = %v, want an error that wraps %v", other, u, err, skein.ErrNotFound)
						}
					}
				}
			})
		}
	}
	wg.Wait()
	n := 0
	for _, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != len(users) {
		t.Errorf("Sessions of everybody's store yields %d, want %d", n, len(users))
	}
}

// A server that cannot be reached is reported on one line, each address once.
func TestAnUnreachableServerIsToldOfOnOneLine(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres://localhost:1/x", postgres.Options{})
	text := err.Error()
	if !errors.Is(err, skein.ErrAway) || strings.Contains(text, "\n") || strings.Count(text, "127.0.0.1:1 ") > 1 || strings.Contains(text, "dial") {
		t.Errorf("Open = %q, want one line that names each address once", text)
	}
	var c *pgconn.ConnectError
	if !errors.As(err, &c) {
		t.Errorf("Open = %v, want a %T in it", err, c)
	}
}
