package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/postgres"
)

// Up to version 3 a tombstone of the local user barred an ID for everybody.
func TestMigrationKeepsWhatWasDestroyedDestroyed(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	add(t, s.As("ann"), "a", created())
	add(t, s, "gone", created())
	if _, err := s.Delete(t.Context(), "gone", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(
		t, pgtest.As(t, dsn, "skein_owner"), `CREATE FUNCTION buried(hashes bytea[]) RETURNS integer LANGUAGE sql AS 'SELECT 1'`, `CREATE FUNCTION lift(hashes bytea[]) RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
		`GRANT CREATE ON SCHEMA public TO skein_all`, `ALTER FUNCTION buried OWNER TO skein_all`, `ALTER FUNCTION lift OWNER TO skein_all`, `REVOKE CREATE ON SCHEMA public FROM skein_all`,
		`DROP TABLE undone`, `UPDATE skein_meta SET version = 3`,
	)
	s = open(t, dsn)
	if _, err := skein.Add(t.Context(), s.As("ann"), "gone", created()); !errors.Is(err, skein.ErrDeleted) {
		t.Errorf("ann begins what was destroyed: %v, want an error that wraps %v", err, skein.ErrDeleted)
	}
	if _, err := skein.Add(t.Context(), s.As("dana"), "gone", created()); err != nil {
		t.Errorf("dana, who came later, begins a session: %v", err)
	}
}

// Up to version 4 what was said counted twice.
func TestMigrationCountsWhatIsSaidOnce(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	add(t, s.As("ann"), "a", created(), said(strings.Repeat("word ", 1000)))
	wait(t, "the index has it", func() bool {
		l, err := s.Lag(t.Context())
		return err == nil && l.Events == 0
	})
	now, err := s.Size(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `UPDATE sessions s SET bytes = s.bytes + octet_length(f.text) FROM found f WHERE f.n = s.n`)
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), `DROP TABLE undone`, `UPDATE skein_meta SET version = 4`)
	if got, err := open(t, dsn).Size(t.Context(), "a"); err != nil || got != now {
		t.Errorf("Size = %d, %v after the migration, want %d", got, err, now)
	}
}

// Of servers that start at once on an empty database one makes the tables, and only
// that one says so.
func TestOneOfManyMakesTheTables(t *testing.T) {
	dsn := pgtest.DSN(t)
	var said atomic.Int32
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{Notice: func(string) { said.Add(1) }})
			if err != nil {
				t.Errorf("Open = %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		})
	}
	wg.Wait()
	if n := said.Load(); n != 1 {
		t.Errorf("%d of 6 say that they make the tables, want 1", n)
	}
}

// Up to version 6 a session counted what was taken back.
func TestMigrationCountsWhatStands(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	add(t, s.As("ann"), "a", created(), said("one"), said("two"), skein.NewEvent(skein.KindRewound, 1, skein.Rewound{To: 2}))
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `UPDATE sessions SET state = convert_to(regexp_replace(convert_from(state, 'UTF8'),
		'"messages":1,"turns":1,"undone":\{[^}]*\}', '"messages":2,"turns":2'), 'UTF8')`)
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), `DROP TABLE undone`, `UPDATE skein_meta SET version = 6`)
	s = open(t, dsn)
	if err := s.DoChores(t.Context()); err != nil {
		t.Fatal(err)
	}
	x, err := s.Session(t.Context(), "a")
	if err != nil || x.Messages != 1 || x.Turns != 1 || x.Undone != (skein.Counts{Messages: 1, Turns: 1}) || x.LastPrompt != "one" {
		t.Errorf("Session(a) = %+v, %v, want one message of two that stands", x, err)
	}
}
