package postgres

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres/schema"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// later returns the Options of a later version, whose schema has one more step.
func later(t *testing.T, step string) Options {
	t.Helper()
	steps, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	return Options{steps: append(steps, step)}
}

// After a migration, a session still has its events, and can be appended to. A program
// of the version before can no longer write. A step that fails changes nothing.
func TestAMigrationLeavesWhatWasThere(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	add := func(s *Store, events ...skein.Event) error {
		_, err := skein.Add(t.Context(), s, "a", events...)
		return err
	}
	if err := add(s, skein.NewEvent(skein.KindCreated, noon, skein.Created{}), skein.Say(noon, skein.UserSays("one"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dsn, later(t, `CREATE TABLE later (x text); SELECT no_such_function()`)); err == nil {
		t.Error("Open with a step that fails = nil")
	}
	if err := add(s, skein.Say(noon, skein.UserSays("two"))); err != nil {
		t.Errorf("Add after a migration that failed: %v", err)
	}
	o := later(t, `ALTER TABLE sessions ADD COLUMN mood text NOT NULL DEFAULT ''; CREATE TABLE later (x text)`)
	newer, err := Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { newer.Close() })
	if err := add(newer, skein.Say(noon, skein.UserSays("three"))); err != nil {
		t.Errorf("Add after the migration: %v", err)
	}
	if got, err := newer.Session(t.Context(), "a"); err != nil || got.Messages != 3 || got.First != "one" {
		t.Errorf("Session after the migration = %d messages from %q, %v; want 3 from one", got.Messages, got.First, err)
	}
	if err := add(s, skein.Say(noon, skein.UserSays("four"))); !errors.Is(err, skein.ErrNewer) {
		t.Errorf("Add by the version before = %v, want %v", err, skein.ErrNewer)
	}
	if _, err := Open(t.Context(), dsn, Options{}); !errors.Is(err, skein.ErrNewer) {
		t.Errorf("Open by the version before = %v, want %v", err, skein.ErrNewer)
	}
}

// A transaction that writes has checked the version of the tables: the version stays
// the same until it commits.
func TestAMigrationWaitsForWhoWrites(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	steps, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	look := strings.NewReplacer("$1", "'skein_user'", "$2", "''", "$3", strconv.Itoa(steps.Version())).Replace(wire.SetPut)
	for _, q := range []string{"BEGIN", look} {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	opened := make(chan error, 1)
	go func() {
		s, err := Open(t.Context(), dsn, later(t, `CREATE TABLE later (x text)`))
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	until(t, "the migration waits", func() bool {
		return s.number(t, `SELECT count(*) FROM pg_locks WHERE relation = 'skein_version'::regclass AND NOT granted`) == 1
	})
	if _, err := c.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("Open = %v once the other has committed, want nil", err)
	}
	if _, err := c.Exec(t.Context(), look); err == nil {
		t.Error("who writes by the rules of the version before is not refused after the migration")
	}
}

// Tables made by a build before the first release are not taken for a released schema,
// and not touched.
func TestTablesOfDevelopmentBuildsAreRefused(t *testing.T) {
	dsn := pgtest.DSN(t)
	if err := openTest(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	owner := pgtest.As(t, dsn, "skein_owner")
	for v, table := range map[string]string{"1": "skein_schema", "13": "skein_meta"} {
		pgtest.Exec(t, owner, `ALTER TABLE skein_version RENAME TO `+table, `UPDATE `+table+` SET version = `+v)
		if _, err := Open(t.Context(), dsn, Options{}); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "skein export") {
			t.Errorf("Open of a development build's tables of version %s = %v, want %v, and what to do", v, err, skein.ErrInvalid)
		}
		pgtest.Exec(t, owner, `ALTER TABLE `+table+` RENAME TO skein_version`) // fails if another was made
	}
}
