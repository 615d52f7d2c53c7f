package postgres_test

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
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
		`UPDATE skein_meta SET version = 3`,
	)
	s = open(t, dsn)
	if _, err := skein.Add(t.Context(), s.As("ann"), "gone", created()); !errors.Is(err, skein.ErrDeleted) {
		t.Errorf("ann begins what was destroyed: %v, want an error that wraps %v", err, skein.ErrDeleted)
	}
	if _, err := skein.Add(t.Context(), s.As("dana"), "gone", created()); err != nil {
		t.Errorf("dana, who came later, begins a session: %v", err)
	}
}
