package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

// old makes a store with one session, and returns its file.
func old(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func testConn(t *testing.T, name string) *conn {
	t.Helper()
	d, err := sqlDriver()
	if err != nil {
		t.Fatal(err)
	}
	c, err := openConn(d, dsn(name, "mode=rw"), writerPragmas...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close() })
	return c
}

func TestMigrationCopiesTheFileFirst(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	steps, err := schemaSteps()
	if err != nil {
		t.Fatal(err)
	}
	var notice string
	o := Options{Notice: func(s string) { notice = s }}
	if err := migrate(t.Context(), c, name, o, append(steps, "CREATE TABLE later (x) STRICT")); err == nil {
		t.Error("a migration with an error = nil")
	}
	copied := fmt.Sprintf("%s.v%d.bak", name, schemaVersion)
	if v, err := fileVersion(c); err != nil || v != schemaVersion {
		t.Errorf("after a migration that failed, the file has version %d (%v), want %d", v, err, schemaVersion)
	}
	if err := migrate(t.Context(), c, name, o, append(steps, "CREATE TABLE later (x TEXT) STRICT")); err != nil {
		t.Fatal(err)
	}
	if v, err := fileVersion(c); err != nil || v != schemaVersion+1 {
		t.Errorf("after the migration the file has version %d (%v), want %d", v, err, schemaVersion+1)
	}
	if !strings.Contains(notice, copied) {
		t.Errorf("the notice is %q, want one that names %s", notice, copied)
	}
	if st, err := os.Stat(copied); err != nil || st.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the copy: %v, %v", st, err)
	}
	var n int64
	if _, err := testConn(t, copied).one("SELECT count(*) FROM sessions", nil, &n); err != nil || n != 1 {
		t.Errorf("the copy has %d sessions (%v), want 1", n, err)
	}
}

// first makes a file as the first version left it, with a session in it.
func first(t *testing.T, name string) {
	t.Helper()
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = skein.Add(t.Context(), s, "old", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("the first words")), skein.Say(2, skein.UserSays("the second words")),
		skein.NewEvent(skein.KindTitled, 9, skein.Titled{Title: "t", By: skein.ByPerson}))
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	toFirst(t, name)
}

// toFirst makes a file, which no store has open, one of the first version.
func toFirst(t *testing.T, name string) {
	t.Helper()
	steps, err := schemaSteps()
	if err != nil {
		t.Fatal(err)
	}
	_, trigger, _ := strings.Cut(steps[0], "CREATE TRIGGER sessions_out")
	trigger, _, _ = strings.Cut(trigger, "\nEND;")
	_, views, _ := strings.Cut(steps[0], "CREATE VIEW messages")
	_, usage, _ := strings.Cut(steps[0], "CREATE TABLE usage ")
	usage, _, _ = strings.Cut(usage, "CREATE TABLE blobs ")
	c := testConn(t, name)
	err = c.script(`DROP VIEW items; DROP VIEW messages; DROP VIEW said; DROP VIEW spoken; DROP VIEW stands;
		DROP TRIGGER charges_in; DROP TRIGGER charges_out; DROP TRIGGER charges_move; DROP TRIGGER sessions_usage_moves; DROP TRIGGER sessions_usage_out;
		DROP TABLE usage; DROP TABLE usage_all; CREATE TABLE usage ` + usage + `;
		ALTER TABLE charges DROP COLUMN tier; ALTER TABLE charges DROP COLUMN cache_hour; ALTER TABLE sessions DROP COLUMN cache_hour;
		DROP TRIGGER undone_out; DROP TABLE undone; DROP INDEX events_amends; ALTER TABLE events DROP COLUMN items;
		ALTER TABLE sessions DROP COLUMN undone_messages; ALTER TABLE sessions DROP COLUMN undone_turns;
		DROP TRIGGER sessions_emptied; ALTER TABLE sessions DROP COLUMN sum;
		ALTER TABLE sessions DROP COLUMN first_words_at; ALTER TABLE sessions DROP COLUMN last_prompt_at;
		DROP INDEX sessions_by_end; DROP INDEX sessions_by_name; DROP INDEX events_rewound; DROP INDEX events_compacted;
		DROP INDEX files_by_other_id; DROP TABLE store; DROP TABLE copies; ALTER TABLE indexed DROP COLUMN gone; ALTER TABLE events DROP COLUMN sum;
		ALTER TABLE sessions DROP COLUMN touched_at; ALTER TABLE sessions DROP COLUMN touched; UPDATE sessions SET updated = 9;
		DROP TRIGGER sessions_out; ALTER TABLE graves DROP COLUMN user_id; DROP TABLE tombstones;
		CREATE TABLE tombstones (hash BLOB PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
		CREATE TRIGGER sessions_out` + trigger + ` END; CREATE VIEW messages` + views + `; PRAGMA user_version = 1`)
	if err := errors.Join(err, c.close()); err != nil {
		t.Fatal(err)
	}
}

// What an earlier version wrote is found and goes on.
func TestFilesOfTheFirstVersionGoOn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	first(t, name)
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	goesOn(t, s)
	if _, err := os.Stat(name + ".v1.bak"); err != nil {
		t.Errorf("the copy from before the migration: %v", err)
	}
}

// Of programs that begin at once one migrates, and the others wait for it.
func TestManyMigrateAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	first(t, name)
	notices := make(chan string, 100)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := Open(t.Context(), name, Options{Notice: func(n string) { notices <- n }})
			if err != nil {
				t.Errorf("Open while others migrate: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
	if len(notices) != 1 {
		t.Errorf("%d of 8 migrate, want 1", len(notices))
	}
	if v, err := fileVersion(testConn(t, name+".v1.bak")); err != nil || v != 1 {
		t.Errorf("the copy has version %d (%v), want 1", v, err)
	}
}

// A copy from long ago is none of the file as it is now.
func TestMigrationCopiesAFileThatWentOnAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	first(t, name)
	was := []byte("of an earlier migration")
	if err := errors.Join(os.WriteFile(name+".v1.bak", was, 0o600), os.Chtimes(name+".v1.bak", time.Unix(1, 0), time.Unix(1, 0))); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name + ".v1.bak"); err != nil || string(got) != string(was) {
		t.Errorf("the earlier copy is %.20q (%v), want %q", got, err, was)
	}
	if v, err := fileVersion(testConn(t, name+".v1-2.bak")); err != nil || v != 1 {
		t.Errorf("the copy has version %d (%v), want 1", v, err)
	}
}

// What the first version's triggers could not work out is made good.
func TestMigrationRecountsWhatTheShellDeleted(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	first(t, name)
	c := testConn(t, name)
	_, _, err := c.exec(`DELETE FROM messages WHERE content = 'the first words'`)
	if err := errors.Join(err, c.close()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := Open(t.Context(), name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Session(t.Context(), "old")
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		if got.First == "the second words" && got.Turns == 1 {
			return
		}
		t.Logf("Session: %q, %d turns", got.First, got.Turns)
	}
	t.Error(`after two starts the session has not "the second words" as its only turn`)
}

// Whose its tombstones are the first version did not know: they are everybody's,
// also theirs who have nothing left.
func TestMigrationKeepsWhatWasDestroyedDestroyed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	first(t, name)
	c := testConn(t, name)
	_, _, err := c.exec(`INSERT INTO tombstones (hash, at) VALUES (?, 7)`, tombOf("gone"))
	if err == nil {
		err = c.script(`INSERT INTO sessions (id, user_id) VALUES ('anns', 'ann'); INSERT INTO graves (id, origin, path, origin_id, at) VALUES ('shell', '', '', '', 8)`)
	}
	if err := errors.Join(err, c.close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	begin := skein.NewEvent(skein.KindCreated, 1, skein.Created{})
	for _, u := range []skein.User{"ann", "bob", skein.Local} {
		if _, err := skein.Add(t.Context(), s.As(u), "gone", begin); !errors.Is(err, skein.ErrDeleted) {
			t.Errorf("%s begins what was destroyed: %v, want %v", u, err, skein.ErrDeleted)
		}
	}
	if _, err := skein.Add(t.Context(), s, "shell", begin); !errors.Is(err, skein.ErrDeleted) {
		t.Errorf("a session that was deleted in the shell begins: %v, want %v", err, skein.ErrDeleted)
	}
	if _, err := skein.Add(t.Context(), s.As("bob"), "shell", begin); err != nil {
		t.Errorf("bob begins a session with the ID of one that another user destroyed: %v", err)
	}
	_, err = s.Append(t.Context(), skein.Batch{Session: "gone", Events: []skein.Event{begin}, Again: true})
	if _, again := skein.Add(t.Context(), s.As("ann"), "gone", begin); err != nil || errors.Is(again, skein.ErrDeleted) {
		t.Errorf("what was destroyed is to come back: %v, and then %v", err, again)
	}
}

// The first version took the time of a title for that of what was said.
func TestMigrationTellsHousekeepingApart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	first(t, name)
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if got, err := s.Session(t.Context(), "old"); err != nil || got.Updated != 2 || got.Touched != 9 {
		t.Errorf("Session is updated %d and touched %d (%v), want 2 and 9", got.Updated, got.Touched, err)
	}
}

// Up to version 9 nobody could tell what costs more for its long prompt.
func TestMigrationTellsLongPromptsApart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	paid := func(request string, u skein.Usage) skein.Event {
		return skein.Say(1, skein.Message{Role: skein.RoleAssistant, Model: "m", Request: request, Usage: &u, Parts: []skein.Part{}})
	}
	_, err = skein.Add(
		t.Context(), s, "old", skein.NewEvent(skein.KindCreated, 1, skein.Created{}),
		paid("1", skein.Usage{Input: 200_001, Output: 1}), paid("1", skein.Usage{Output: 5}), paid("2", skein.Usage{CacheRead: 199_000}), paid("2", skein.Usage{Input: 1001}),
		paid("", skein.Usage{CacheWrite: 600_000}), paid("3", skein.Usage{Input: 128_000, Output: 7}),
	)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	toFirst(t, name)
	if s, err = Open(t.Context(), name, Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	want := []skein.UsageRow{
		{Of: "old", Model: "m", Tier: ">512000", Usage: skein.Usage{CacheWrite: 600_000, Requests: 1}},
		{Of: "old", Model: "m", Tier: ">200000", Usage: skein.Usage{Input: 201_002, Output: 5, CacheRead: 199_000, Requests: 2}},
		{Of: "old", Model: "m", Usage: skein.Usage{Input: 128_000, Output: 7, Requests: 1}},
	}
	got, err := s.Usage(t.Context(), skein.UsageQuery{By: skein.BySession})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Usage after the migration (%v; -want +got):\n%s", err, diff)
	}
	for i := range want {
		want[i].Of = "m"
	}
	got, err = s.Usage(t.Context(), skein.UsageQuery{By: skein.ByModelID})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Usage by model after the migration (%v; -want +got):\n%s", err, diff)
	}
}

// Up to version 13 what was put back counted as gone.
func TestMigrationCountsWhatWasPutBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	amend := func(a skein.Amended) skein.Event { return skein.NewEvent(skein.KindAmended, 4, a) }
	if _, err := s.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("one")), skein.Say(3, skein.UserSays("two")), skein.Say(3, skein.UserSays("three")),
			amend(skein.Amended{Seq: 2, Withdrawn: true}), amend(skein.Amended{Seq: 2}), amend(skein.Amended{Seq: 3, Withdrawn: true}),
		}},
		skein.Batch{Session: "f", Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 7, Why: skein.Fork}}), skein.Say(5, skein.UserSays("own")),
		}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := testConn(t, name)
	if err := c.script(`UPDATE events SET role = NULL WHERE kind = 'amended'; UPDATE sessions SET messages = messages - 1, undone_messages = undone_messages + 1;
		DROP TRIGGER sessions_emptied; ALTER TABLE sessions DROP COLUMN sum; PRAGMA user_version = 13`); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), name, Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.recountAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[skein.SessionID]int{"a": 2, "f": 3} {
		if got, err := s.Session(t.Context(), id); err != nil || got.Messages != want || got.Undone.Messages != 1 || got.First != "one" {
			t.Errorf("Session(%s) = %d messages, %d undone, from %q, %v; want %d and 1 from one", id, got.Messages, got.Undone.Messages, got.First, err, want)
		}
	}
	var shown string
	if _, err := c.one(`SELECT group_concat(coalesce(content, 'NULL'), ' ') FROM (SELECT content FROM messages WHERE session_id = 'f' ORDER BY id)`, nil, &shown); err != nil || shown != "one three own" {
		t.Errorf("the view messages shows %q, %v; want one three own", shown, err)
	}
}

func TestBackupsOfTheFirstVersionAreRestored(t *testing.T) {
	dir := t.TempDir()
	backup := filepath.Join(dir, "old.db")
	first(t, backup)
	s, err := Open(t.Context(), filepath.Join(dir, "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.RestoreBackup(t.Context(), backup, filepath.Join(dir, "kept.db")); err != nil {
		t.Fatal(err)
	}
	goesOn(t, s)
	if left, err := filepath.Glob(filepath.Join(dir, ".restore-*")); err != nil || len(left) > 0 {
		t.Errorf("restoring leaves %v (%v)", left, err)
	}
}

// goesOn reads and writes the session that first makes.
func goesOn(t *testing.T, s *Store) {
	t.Helper()
	if _, err := skein.Add(context.Background(), s, "old", skein.Say(3, skein.UserSays("more"))); err != nil {
		t.Fatal(err)
	}
	events, err := s.Window(t.Context(), "old", 10)
	if err != nil || len(events) < 2 {
		t.Fatalf("Window gives %d events, %v; want what was said", len(events), err)
	}
	entries, err := s.Newest(t.Context(), "old", 10, 0)
	if err != nil || len(entries) != 3 || entries[0].Message.Words() != "the first words" {
		t.Errorf("Newest = %v, %v; want what was said before and after", entries, err)
	}
	if v, err := fileVersion(testConn(t, s.path)); err != nil || v != schemaVersion {
		t.Errorf("the file has version %d (%v), want %d", v, err, schemaVersion)
	}
}

// A migration that was released is never edited: add another one.
func TestReleasedMigrationsStayAsTheyWere(t *testing.T) {
	steps, err := schemaSteps()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"6d088196ff8cf2d8421c44fc49228653470b28091fe8fe18456b777eaab945da",
		"d09f71844a7ef08ddce2e289d1b048dd476778cd42c79c0214082b46fb39f61a",
		"ad8a4dd44da8289a97a2583aa8f77ae29b57a137130adb2c1d11ba9a0ed0c9b1",
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(steps[i]))); got != want {
			t.Errorf("schema/%04d.sql has the sum %s, want %s", i+1, got, want)
		}
	}
}

func TestPragmas(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	for pragma, want := range map[string]int64{"auto_vacuum": 2, "page_size": 4096, "synchronous": 2, "application_id": applicationID, "user_version": schemaVersion} {
		var got int64
		if _, err := c.one("PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("PRAGMA %s = %d (%v), want %d", pragma, got, err, want)
		}
	}
	var mode, version string
	if _, err := c.one("PRAGMA journal_mode", nil, &mode); err != nil || mode != "wal" {
		t.Errorf("PRAGMA journal_mode = %s (%v), want wal", mode, err)
	}
	if _, err := c.one("SELECT sqlite_version()", nil, &version); err != nil || older(version, minVersion) {
		t.Errorf("SQLite is %s (%v), want %s or later", version, err, minVersion)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"3.51.2", "3.51.3", true}, {"3.51.3", "3.51.3", false}, {"3.9.0", "3.51.3", true}, {"3.53.4", "3.51.3", false}, {"4.0.0", "3.51.3", false}} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("older(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// tombOf is tombstones.hash of a session.
func tombOf(id skein.SessionID) []byte {
	t := erase.TombOfID(id)
	return t[:]
}
