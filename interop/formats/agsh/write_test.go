package agsh

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

var now = time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)

// composed makes a session of these events.
func composed(t testing.TB, s skein.Store, id skein.SessionID, evs ...skein.Event) {
	t.Helper()
	first := skein.NewEvent(skein.KindCreated, skein.At(now), skein.Created{Cwd: "/home/ada", Model: "m", Provider: "p"})
	if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: append([]skein.Event{first}, evs...)}); err != nil {
		t.Fatal(err)
	}
}

func says(ms int, role skein.Role, parts ...skein.Part) skein.Event {
	return skein.Say(skein.At(now.Add(time.Duration(ms)*time.Millisecond)), skein.Message{Role: role, Parts: parts})
}

func words(s string) skein.Part { return skein.TextPart(s) }

func call(id string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "bash", Input: []byte(`{"z":1.50,"a":"<"}`)}}
}

func result(id, text string, failed bool) skein.Part {
	return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text), Failed: failed}}
}

// export writes a session to home.
func export(t testing.TB, s skein.Store, id skein.SessionID, home string) writeback.Exported {
	t.Helper()
	done, err := writeback.Export(t.Context(), s, Format(), id, home, writeback.Exports{NoSide: true, Now: now.Add(time.Hour)})
	if err != nil {
		t.Fatalf("Export(%s) = %v", id, err)
	}
	return done[0]
}

// rows returns what a query finds, one line per row.
func rows(t testing.TB, path, query string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rs, err := db.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rs.Close()
	var b strings.Builder
	columns, _ := rs.Columns()
	for rs.Next() {
		cells, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			at[i] = &cells[i]
		}
		if err := rs.Scan(at...); err != nil {
			t.Fatal(err)
		}
		for i := range cells {
			if i > 0 {
				b.WriteString("|")
			}
			if cells[i] != nil {
				fmt.Fprint(&b, cells[i])
			}
		}
		b.WriteString("\n")
	}
	if err := rs.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const odd = "c1b9b0d1-9d9a-4a52-8c0e-0d6a4b1d2e01"

func TestASessionBecomesTheRowsThatTheProgramWrites(t *testing.T) {
	s := memory.New()
	defer s.Close()
	composed(t, s, odd,
		says(1, skein.RoleUser, words("how large?")),
		says(2, skein.RoleAssistant, words("I look."), call("a"), call("b")),
		says(3, skein.RoleTool, result("b", "denied", true)),
		says(4, skein.RoleSteer, words("quick")),
		says(5, skein.RoleTool, result("a", "4.0K\t.", false)),
		says(6, skein.RoleAssistant, words("4 KB."), call("open")),
		says(1000, skein.RoleUser, words("undone")),
		skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: 7}),
		says(7, skein.RoleUser, words("thanks")),
	)
	home := t.TempDir()
	done := export(t, s, odd, home)
	want := interop.Losses{
		{What: "that a message was said in the middle of a turn: left out", Count: 1, First: 5},
		{What: "call without a result: answered as interrupted", Count: 1, First: 7},
		{What: "message that was rewound: left out", Count: 1, First: 8},
	}
	if diff := cmp.Diff(want, done.Losses); diff != "" {
		t.Errorf("Export loses (-want +got):\n%s", diff)
	}
	path := filepath.Join(home, fileName)
	for query, want := range map[string]string{
		`SELECT * FROM sessions`: odd + "|2026-03-06T09:00:00+00:00|2026-03-06T09:00:01+00:00||\n",
		`SELECT id, role, content, created_at FROM messages WHERE session_id = '` + odd + `' ORDER BY id`: `1|user|how large?|2026-03-06T09:00:00.001+00:00
2|assistant|[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"bash","input":{"z":1.50,"a":"<"}},{"type":"tool_use","id":"b","name":"bash","input":{"z":1.50,"a":"<"}}]|2026-03-06T09:00:00.002+00:00
3|tool_results|[{"type":"tool_result","tool_use_id":"a","content":"4.0K\t.","is_error":false},{"type":"tool_result","tool_use_id":"b","content":"denied","is_error":true}]|2026-03-06T09:00:00.002+00:00
4|user|quick|2026-03-06T09:00:00.004+00:00
5|assistant|[{"type":"text","text":"4 KB."},{"type":"tool_use","id":"open","name":"bash","input":{"z":1.50,"a":"<"}}]|2026-03-06T09:00:00.006+00:00
6|tool_results|[{"type":"tool_result","tool_use_id":"open","content":"[Interrupted: there is no result, and it is unknown whether the tool took effect.]","is_error":true}]|2026-03-06T09:00:00.006+00:00
7|user|thanks|2026-03-06T09:00:00.007+00:00
`,
		`SELECT * FROM sqlite_sequence`: "messages|7\n",
		`PRAGMA integrity_check`:        "ok\n",
		`PRAGMA foreign_key_check`:      "",
		`PRAGMA user_version`:           "0\n",
	} {
		if got := rows(t, path, query); got != want {
			t.Errorf("%s gives\n%swant\n%s", query, got, want)
		}
	}
}

// These statements are from the program's manual.
func TestTheRecipesForSessionsDBWorkOnWhatIsWritten(t *testing.T) {
	s := memory.New()
	defer s.Close()
	home := t.TempDir()
	for _, id := range []skein.SessionID{"one", "two"} {
		composed(t, s, id, says(1, skein.RoleUser, words(string(id))))
		export(t, s, id, home)
	}
	path := filepath.Join(home, fileName)
	id := uuid("one")
	list := `SELECT id, created_at, updated_at FROM sessions ORDER BY updated_at DESC`
	if got := rows(t, path, list); strings.Count(got, "\n") != 2 || !strings.Contains(got, id+"|2026-03-06T09:00:00+00:00|2026-03-06T09:00:00.001+00:00\n") {
		t.Errorf("%s gives\n%swant two sessions", list, got)
	}
	rows(t, path, `DELETE FROM messages WHERE session_id = '`+id+`'`)
	rows(t, path, `DELETE FROM sessions WHERE id = '`+id+`'`)
	if got, want := rows(t, path, `SELECT role, content FROM messages ORDER BY id`), "user|two\n"; got != want {
		t.Errorf("after the first session was deleted there is\n%swant\n%s", got, want)
	}
	if _, err := writeback.Export(t.Context(), s, Format(), "two", home, writeback.Exports{}); !errors.Is(err, skein.ErrExists) {
		t.Errorf("Export of the same session again = %v, want ErrExists", err)
	}
}

func TestALiveSessionHasItsHoldersPID(t *testing.T) {
	s := memory.New()
	defer s.Close()
	composed(t, s, odd, says(1, skein.RoleUser, words("hello")))
	if _, err := s.Acquire(t.Context(), odd, skein.LeaseRequest{Program: "test"}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	export(t, s, odd, home)
	sess, err := s.Session(t.Context(), odd)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rows(t, filepath.Join(home, fileName), `SELECT locked_by FROM sessions`), fmt.Sprintln(os.Getpid()); got != want {
		t.Errorf("locked_by of a session that %s holds is %swant %s", sess.LockedBy, got, want)
	}
}

// wentOn imports path and continues the session "s".
func wentOn(t testing.TB, path string) skein.Store {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	bring(t, s, path)
	if _, err := skein.Add(t.Context(), s, "s", says(1, skein.RoleUser, words("more"))); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestASessionThatItsProgramHasOpenIsNotWrittenBack(t *testing.T) {
	path, do := march(t)
	do(fmt.Sprintf(`UPDATE sessions SET locked_by = '%d'`, os.Getppid()))
	s := wentOn(t, path)
	if _, err := writeback.Sync(t.Context(), s, Format(), "s"); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Sync of a session that a live process holds = %v, want ErrLocked", err)
	}
	for _, dead := range []string{"'2147483646'", "'no number'", "NULL", fmt.Sprint(os.Getpid())} {
		do(`UPDATE sessions SET locked_by = ` + dead)
		if _, err := writeback.Sync(t.Context(), s, Format(), "s"); err != nil {
			t.Errorf("Sync of a session that %s holds = %v, want it written", dead, err)
		}
	}
	if got, want := rows(t, path, `SELECT content FROM messages ORDER BY id`), "one\nmore\n"; got != want {
		t.Errorf("what is there is\n%swant\n%s", got, want)
	}
}

func TestTheLockFileOfLaterVersionsIsRespected(t *testing.T) {
	path, do := march(t)
	do(`ALTER TABLE sessions DROP COLUMN locked_by`)
	s := wentOn(t, path)
	file := filepath.Join(filepath.Dir(path), "locks", "s.lock")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	held := flock.New(file)
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := writeback.Sync(t.Context(), s, Format(), "s"); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Sync while the lock file is locked = %v, want ErrLocked", err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
	if done, err := writeback.Sync(t.Context(), s, Format(), "s"); err != nil || done.Events != 1 {
		t.Errorf("Sync = %+v, %v, want 1 event written", done, err)
	}
	if ok, err := held.TryLock(); !ok || err != nil {
		t.Errorf("after Sync the lock file is still locked: %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestASessionOfAnotherDatabaseIsPutBesideWhatIsThere(t *testing.T) {
	s := memory.New()
	defer s.Close()
	path, _ := march(t, said("assistant", "two", 2))
	bring(t, s, path)
	home := t.TempDir()
	composed(t, s, "other", says(1, skein.RoleUser, words("mine")))
	export(t, s, "other", home)
	if x := export(t, s, "s", home); x.Exact {
		t.Errorf("Export = %+v, want it written with rows of its own, for those that it had are another's", x)
	}
	if got, want := rows(t, filepath.Join(home, fileName), `SELECT role, content FROM messages ORDER BY id`), "user|mine\nuser|one\nassistant|[{\"type\":\"text\",\"text\":\"two\"}]\n"; got != want {
		t.Errorf("the database has\n%s\nwant\n%s", got, want)
	}
	_, err := writeback.Export(t.Context(), s, Format(), "s", home, writeback.Exports{Now: now})
	if !errors.Is(err, skein.ErrExists) {
		t.Errorf("Export of what is there = %v, want %v", err, skein.ErrExists)
	}
}
