package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

// beforeTiers makes the sums those of version 7.
const beforeTiers = `ALTER TABLE usage NO FORCE ROW LEVEL SECURITY; ALTER TABLE charges NO FORCE ROW LEVEL SECURITY; ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;
	DELETE FROM usage; ALTER TABLE usage DROP CONSTRAINT usage_pkey; ALTER TABLE usage DROP COLUMN tier; ALTER TABLE usage DROP COLUMN cache_hour;
	ALTER TABLE charges DROP COLUMN tier; ALTER TABLE charges DROP COLUMN cache_hour; ALTER TABLE usage ADD PRIMARY KEY (user_id, n, slot, provider, model);
	INSERT INTO usage (user_id, n, slot, provider, model, project, agent, input, output, reasoning, cache_read, cache_write, requests, reported)
	SELECT c.user_id, c.n, c.slot, c.provider, c.model, s.project, s.agent, sum(c.input), sum(c.output), sum(c.reasoning), sum(c.cache_read), sum(c.cache_write), sum(c.requests), sum(c.reported)
	FROM charges c JOIN sessions s ON s.user_id = c.user_id AND s.n = c.n GROUP BY 1, 2, 3, 4, 5, 6, 7;
	ALTER TABLE usage FORCE ROW LEVEL SECURITY; ALTER TABLE charges FORCE ROW LEVEL SECURITY; ALTER TABLE sessions FORCE ROW LEVEL SECURITY`

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
		beforeTiers, `DROP TABLE undone`, `UPDATE skein_meta SET version = 3`,
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
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), beforeTiers, `DROP TABLE undone`, `UPDATE skein_meta SET version = 4`)
	if got, err := open(t, dsn).Size(t.Context(), "a"); err != nil || got != now {
		t.Errorf("Size = %d, %v after the migration, want %d", got, err, now)
	}
}

// Who is in the midst of a write has looked which version the tables have: they stay
// so until that is committed.
func TestAMigrationWaitsForWhoWrites(t *testing.T) {
	dsn := pgtest.DSN(t)
	open(t, dsn)
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), `UPDATE skein_meta SET version = 8`)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	look := strings.NewReplacer("$1", "'skein_user'", "$2", "''", "$3", "8").Replace(postgres.SetPut)
	for _, q := range []string{"BEGIN", look} {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	opened := make(chan error, 1)
	go func() {
		s, err := postgres.Open(t.Context(), dsn, postgres.Options{})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	waitFor(t, dsn, `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'skein_meta'::regclass AND NOT granted)`)
	if _, err := c.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("Open = %v once the other has committed, want nil", err)
	}
	if _, err := c.Exec(t.Context(), look); err == nil {
		t.Error("who writes by the rules of version 8 is not refused after the migration")
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
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), beforeTiers, `DROP TABLE undone`, `UPDATE skein_meta SET version = 6`)
	s = open(t, dsn)
	if err := s.DoChores(t.Context()); err != nil {
		t.Fatal(err)
	}
	x, err := s.Session(t.Context(), "a")
	if err != nil || x.Messages != 1 || x.Turns != 1 || x.Undone != (skein.Counts{Messages: 1, Turns: 1}) || x.LastPrompt != "one" {
		t.Errorf("Session(a) = %+v, %v, want one message of two that stands", x, err)
	}
}

// Up to version 7 nobody could tell what costs more for its long prompt.
func TestMigrationTellsLongPromptsApart(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	paid := func(request string, u skein.Usage) skein.Event {
		return skein.Say(1, skein.Message{Role: skein.RoleAssistant, Model: "m", Request: request, Usage: &u, Parts: []skein.Part{}})
	}
	for _, user := range []skein.User{"ann", "dana"} {
		add(t, s.As(user), skein.SessionID("of-"+user), created(), paid("1", skein.Usage{Input: 200_001, Output: 1}), paid("1", skein.Usage{Output: 5}),
			paid("2", skein.Usage{CacheRead: 199_000}), paid("2", skein.Usage{Input: 1001}), paid("", skein.Usage{CacheWrite: 600_000}), paid("3", skein.Usage{Input: 128_000, Output: 7}))
	}
	add(t, s.As("ann"), "short", created(), paid("4", skein.Usage{Input: 9}))
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), beforeTiers, `UPDATE skein_meta SET version = 7`)
	s = open(t, dsn)
	for _, user := range []skein.User{"ann", "dana"} {
		id := skein.SessionID("of-" + user)
		want := []skein.UsageRow{
			{Of: string(id), Model: "m", Tier: ">512000", Usage: skein.Usage{CacheWrite: 600_000, Requests: 1}},
			{Of: string(id), Model: "m", Tier: ">200000", Usage: skein.Usage{Input: 201_002, Output: 5, CacheRead: 199_000, Requests: 2}},
			{Of: string(id), Model: "m", Usage: skein.Usage{Input: 128_000, Output: 7, Requests: 1}},
		}
		got, err := s.As(user).Usage(t.Context(), skein.UsageQuery{By: skein.BySession, Session: id})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Usage of %s's after the migration (%v; -want +got):\n%s", user, err, diff)
		}
	}
	if got, err := s.As("ann").Usage(t.Context(), skein.UsageQuery{Session: "short"}); err != nil || len(got) != 1 || got[0].Usage.Input != 9 {
		t.Errorf("Usage of a session without long prompts = %v, %v", got, err)
	}
}

// Up to version 9 what was put back counted as gone.
func TestMigrationCountsWhatWasPutBack(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	amend := func(a skein.Amended) skein.Event { return skein.NewEvent(skein.KindAmended, 4, a) }
	add(t, s.As("ann"), "a", created(), said("one"), said("two"), said("three"),
		amend(skein.Amended{Seq: 2, Withdrawn: true}), amend(skein.Amended{Seq: 2}), amend(skein.Amended{Seq: 3, Withdrawn: true}))
	add(t, s.As("ann"), "f", skein.NewEvent(skein.KindCreated, 1, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 7, Why: skein.Fork}}), said("own"))
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `UPDATE events SET role = NULL WHERE kind = 'amended'`,
		`UPDATE sessions SET state = convert_to(regexp_replace(convert_from(state, 'UTF8'), '"messages":(\d)(.*"messages":)(\d)', '"messages":\3\2\1'), 'UTF8')`)
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_owner"), `UPDATE skein_meta SET version = 9`)
	s = open(t, dsn)
	if err := s.DoChores(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[skein.SessionID]int{"a": 2, "f": 3} {
		if got, err := s.As("ann").Session(t.Context(), id); err != nil || got.Messages != want || got.Undone.Messages != 1 || got.First != "one" {
			t.Errorf("Session(%s) = %d messages, %d undone, from %q, %v; want %d and 1 from one", id, got.Messages, got.Undone.Messages, got.First, err, want)
		}
	}
}
