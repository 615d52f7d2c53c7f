package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

// The server is configured for other programs.
func TestSettingsOfTheDatabaseChangeNothing(t *testing.T) {
	dsn := pgtest.DSN(t)
	name := databaseOf(t, dsn)
	for _, setting := range []string{
		`standard_conforming_strings = off`, `client_encoding = 'LATIN1'`, `bytea_output = 'escape'`, `"TimeZone" = 'Asia/Kathmandu'`, `"DateStyle" = 'SQL, DMY'`,
		`default_transaction_isolation = 'serializable'`, `synchronous_commit = off`, `transform_null_equals = on`, `default_text_search_config = 'pg_catalog.german'`,
	} {
		pgtest.Exec(t, pgtest.Admin(t), `ALTER DATABASE `+name+` SET `+setting)
	}
	s := open(t, dsn)
	user := skein.User(`o'brien\"`)
	v := s.As(user)
	const words = `wire.Where is C:\temp, O'Neil? In Łódź.`
	add(t, v, "a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Project: `C:\src\app`}), said(words))
	for _, q := range []skein.Query{
		{Terms: []skein.Term{{Words: []string{"łódź"}}}},
		{Terms: []skein.Term{{Words: []string{"neil"}}}, Project: "app"},
		{Substring: `c:\temp, o'n`},
	} {
		r, err := v.Search(t.Context(), q)
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Session != "a" {
			t.Errorf("Search(%+v) = %+v, %v, want one hit in a", q, r, err)
		}
	}
	l, err := skein.LeasesOf(v).Acquire(t.Context(), "a", skein.LeaseRequest{Program: "x", TTL: time.Minute})
	if err == nil {
		_, err = skein.LeasesOf(v).Renew(t.Context(), l, time.Minute)
	}
	if err != nil {
		t.Errorf("a lease: %v", err)
	}
	var stored string
	pgtest.Exec(t, pgtest.Admin(t), `ALTER DATABASE `+name+` RESET ALL`)
	c, err := pgx.Connect(t.Context(), pgtest.As(t, dsn, "skein_all"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	if err := c.QueryRow(t.Context(), `SELECT name FROM names`).Scan(&stored); err != nil || stored != strings.ToLower(words) {
		t.Errorf("the database has the words %q, %v, want %q", stored, err, words)
	}
}

func TestASchemaThatIsNotPublicIsRefusedWithWhatToDo(t *testing.T) {
	dsn := pgtest.DSN(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, dsn, `CREATE SCHEMA "`+u.User.Username()+`"`) // as "$user" in search_path finds it
	_, err = postgres.Open(t.Context(), dsn, postgres.Options{})
	if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "search_path=public") {
		t.Errorf("Open where another schema comes first = %v, want an error that wraps %v and says search_path=public", err, skein.ErrInvalid)
	}
	q := u.Query()
	q.Set("search_path", "public")
	u.RawQuery = q.Encode()
	add(t, open(t, u.String()), "a", created())
}

func TestADatabaseWithoutRowSecurityIsRefusedWithWhatToDo(t *testing.T) {
	dsn := pgtest.DSN(t)
	pgtest.Exec(t, pgtest.Admin(t), `ALTER DATABASE `+databaseOf(t, dsn)+` SET row_security = off`)
	_, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "row_security") {
		t.Errorf("Open where row_security is off = %v, want an error that wraps %v and names it", err, skein.ErrInvalid)
	}
}

func TestAWayToAskThatGuessesTypesIsRefusedWithAnother(t *testing.T) {
	for _, mode := range []string{"exec", "simple_protocol"} {
		_, err := postgres.Open(t.Context(), "postgres://127.0.0.1:1/x?default_query_exec_mode="+mode, postgres.Options{})
		if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "cache_describe") {
			t.Errorf("Open with %s = %v, want an error that wraps %v and says cache_describe", mode, err, skein.ErrInvalid)
		}
	}
}
