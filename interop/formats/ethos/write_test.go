package ethos

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

var now = time.Date(2026, 8, 21, 9, 0, 0, 0, time.UTC)

// made is a session of these events, begun in the folder fig.
func made(t testing.TB, s skein.Store, id skein.SessionID, evs ...skein.Event) {
	t.Helper()
	first := skein.NewEvent(skein.KindCreated, skein.At(now), skein.Created{Cwd: "/home/ada/fig", Model: "m", Provider: "p", Title: "Figs"})
	if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: append([]skein.Event{first}, evs...)}); err != nil {
		t.Fatal(err)
	}
}

func say(second int, role skein.Role, parts ...skein.Part) skein.Event {
	return skein.Say(skein.At(now.Add(time.Duration(second)*time.Second)), skein.Message{Role: role, Parts: parts})
}

func words(s string) skein.Part { return skein.TextPart(s) }

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
func rows(t testing.TB, path, query string, args ...any) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rs, err := db.QueryContext(context.Background(), query, args...)
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

func TestARichSessionBecomesTheRowsThatTheProgramWrites(t *testing.T) {
	s := memory.New()
	defer s.Close()
	png, _ := base64.StdEncoding.DecodeString("iVBORw0KGgo=")
	blob := skein.NewBlob(png)
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "look", Input: []byte(`{"b":1.0,"a":"<"}`)}}
	answer := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "ripe ===TOOL_RESULT_END===", Failed: true}}
	spent := say(2, skein.RoleAssistant, words("I look."), call)
	spent.Payload = skein.MustJSON(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{words("I look."), call}, Usage: &skein.Usage{Input: 9, Output: 3, Reported: 1_500_000}})
	broken := say(5, skein.RoleAssistant)
	broken.Payload = skein.MustJSON(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{words("They")}, Interrupted: true})
	made(t, s, "odd id",
		say(1, skein.RoleUser, words("are the figs ripe?")), spent, say(3, skein.RoleTool, answer), say(4, skein.RoleSteer, words("quick")), broken,
		skein.NewEvent(skein.KindRewound, 0, skein.Rewound{To: 5}),
		say(1, skein.RoleSystem, words("the clock went back")),
		skein.NewEvent(skein.KindCompacted, skein.At(now), skein.Compacted{To: 4, Summary: "looked", Before: 90, After: 9}),
	)
	pic := say(8, skein.RoleUser, words("and this one?"), skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: 8}})
	if _, err := s.Append(t.Context(), skein.Batch{Session: "odd id", Events: []skein.Event{pic}, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	done := export(t, s, "odd id", home)
	if diff := cmp.Diff(interop.Losses{{What: "that a tool failed: left out", Count: 1, First: 4}}, done.Losses); diff != "" {
		t.Errorf("Export loses (-want +got):\n%s", diff)
	}
	path := filepath.Join(home, fileName)
	for query, want := range map[string]string{
		`SELECT key, platform, model, provider, working_dir, title, input_tokens, output_tokens, estimated_cost_usd, api_call_count, compaction_count, turn_count, pinned, created_at FROM sessions`: `cli:fig|cli|m|p|/home/ada/fig|Figs|9|3|0.0015|1|1|2|0|2026-08-21T09:00:00.000Z
`,
		`SELECT role, content, tool_call_id, tool_name, tool_calls, input_tokens, estimated_cost_usd, timestamp, content_blocks, deleted_at FROM messages ORDER BY timestamp, rowid`: `user|are the figs ripe?||||||2026-08-21T09:00:01.000Z||
assistant|I look.|||[{"id":"c1","name":"look","input":{"b":1.0,"a":"<"}}]|9|0.0015|2026-08-21T09:00:02.000Z||
tool_result|===TOOL_RESULT_START:look===
ripe =` + "\u200b" + `==TOOL_RESULT_END===
===TOOL_RESULT_END===|c1|look||||2026-08-21T09:00:03.000Z||
user_steer|quick||||||2026-08-21T09:00:04.000Z||
assistant|They

[interrupted — broken off]||||||2026-08-21T09:00:05.000Z||2026-08-21T10:00:00.000Z
system|the clock went back||||||2026-08-21T09:00:05.000Z||
user|and this one?||||||2026-08-21T09:00:08.000Z|[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]|
`,
		`SELECT summary_text, pre_total_tokens, post_total_tokens, (SELECT role FROM messages WHERE id = kept_from_message_id) FROM compressions`: "looked|90|9|user_steer\n",
		`PRAGMA integrity_check`:   "ok\n",
		`PRAGMA foreign_key_check`: "",
		`PRAGMA journal_mode`:      "wal\n",
		`PRAGMA user_version`:      "0\n",
	} {
		if got := rows(t, path, query); got != want {
			t.Errorf("%s gives\n%swant\n%s", query, got, want)
		}
	}
}

// The expected results are those of the program's own store.
func TestItsPhraseSearchFindsWhatIsWritten(t *testing.T) {
	s := memory.New()
	defer s.Close()
	made(t, s, "s", say(1, skein.RoleUser, words("a retry budget of three tries")))
	home := t.TempDir()
	export(t, s, "s", home)
	path := filepath.Join(home, fileName)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	run(t, db, `PRAGMA foreign_keys = ON`,
		`INSERT INTO messages (id, session_id, role, content, timestamp) SELECT 'new', id, 'user', 'fresh words', '2026-08-21T11:00:00.000Z' FROM sessions`,
		`INSERT INTO messages_fts(messages_fts) VALUES ('integrity-check')`)
	for query, want := range map[string]int{"retries": 1, "RETRY": 1, "budget retry": 0, "retry budget": 1, "three-tries": 1, "fresh": 1, `say "three`: 0} {
		phrase := `"` + strings.ReplaceAll(query, `"`, `""`) + `"`
		got := rows(t, path, `SELECT count(*) FROM messages_fts JOIN messages m ON m.rowid = messages_fts.rowid WHERE messages_fts MATCH ? AND m.deleted_at IS NULL`, phrase)
		if got != fmt.Sprintln(want) {
			t.Errorf("the search for %s finds %swant %d", query, got, want)
		}
	}
	run(t, db, `DELETE FROM sessions`)
	if got := rows(t, path, `SELECT count(*) FROM messages`); got != "0\n" {
		t.Errorf("after the session was deleted there are %smessages, want none", got)
	}
}

func TestAKeyIsTheFolderSAndElseLikeThatOfNew(t *testing.T) {
	s := memory.New()
	defer s.Close()
	home := t.TempDir()
	for _, id := range []skein.SessionID{"a", "b", "c"} {
		made(t, s, id, say(1, skein.RoleUser, words("hello")))
		export(t, s, id, home)
	}
	want := "cli:fig\ncli:fig:1787302800000\ncli:fig:1787302800001\n"
	if got := rows(t, filepath.Join(home, fileName), `SELECT key FROM sessions ORDER BY rowid`); got != want {
		t.Errorf("keys are\n%swant\n%s", got, want)
	}
	if _, err := writeback.Export(t.Context(), s, Format(), "a", home, writeback.Exports{}); !errors.Is(err, skein.ErrExists) {
		t.Errorf("Export of the same session again = %v, want ErrExists", err)
	}
}

func TestASessionIsWrittenToADatabaseOfAnOldVersion(t *testing.T) {
	home := t.TempDir()
	build(t, filepath.Join(home, fileName), cases()["first"]...).Close()
	s := memory.New()
	defer s.Close()
	blob := skein.NewBlob([]byte("picture"))
	made(t, s, "s")
	pic := say(1, skein.RoleUser, words("look"), skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: 7}})
	if _, err := s.Append(t.Context(), skein.Batch{Session: "s", Events: []skein.Event{pic}, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	done := export(t, s, "s", home)
	if want := "content_blocks: the database there has no such column"; len(done.Losses) != 1 || done.Losses[0].What != want {
		t.Errorf("Export loses %v, want %q", done.Losses, want)
	}
	if got, want := rows(t, filepath.Join(home, fileName), `SELECT count(*) FROM sessions`), "2\n"; got != want {
		t.Errorf("there are %ssessions, want %s", got, want)
	}
}

func TestWhatASessionWentOnWithIsWrittenBack(t *testing.T) {
	path, do := fig(t, said("2", "assistant", "two"), `UPDATE sessions SET input_tokens = 100, pinned = 1`)
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	spent := skein.Say(skein.At(now), skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{words("four")}, Usage: &skein.Usage{Input: 5, Output: 2}})
	if _, err := skein.Add(t.Context(), s, "s", say(3, skein.RoleUser, words("three")), spent,
		skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: "mine", By: skein.ByPerson})); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Sync(t.Context(), s, Format(), "s")
	if err != nil || done.Events != 2 {
		t.Fatalf("Sync = %+v, %v, want 2 events written", done, err)
	}
	for query, want := range map[string]string{
		`SELECT role, content FROM messages ORDER BY timestamp, rowid`:                                     "user|one\nassistant|two\nuser|three\nassistant|four\n",
		`SELECT title, key, pinned, input_tokens, output_tokens, api_call_count, turn_count FROM sessions`: "mine|cli:fig|1|105|2|1|1\n",
		`SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'four'`:                                "1\n",
	} {
		if got := rows(t, path, query); got != want {
			t.Errorf("after Sync %s gives\n%swant\n%s", query, got, want)
		}
	}
	if rep := bring(t, s, path); rep.Events != 0 {
		t.Errorf("Import after Sync = %+v, want nothing new:\n%s", rep, tell(t, s, "s"))
	}
	was := tell(t, s, "s")
	do(said("9", "user", "nine"), `UPDATE sessions SET updated_at = '2027-01-01T00:00:00.000Z', output_tokens = 9`)
	bring(t, s, path)
	if got, want := tell(t, s, "s"), was+", title:mine, user:nine"; got != want {
		t.Errorf("after the program went on the session is\n%s\nwant\n%s", got, want)
	}
	if got, err := s.Session(t.Context(), "s"); err != nil || got.Title != "mine" {
		t.Errorf("Session(s) = %+v, %v, want the title that a person gave", got, err)
	}
}

func TestWhatWasReadAndWentOnIsWrittenElsewhereWithItsKey(t *testing.T) {
	path, _ := fig(t)
	s := memory.New()
	defer s.Close()
	bring(t, s, path)
	if _, err := skein.Add(t.Context(), s, "s", say(3, skein.RoleUser, words("two"))); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if done := export(t, s, "s", home); done.Exact {
		t.Errorf("Export = %+v, want it written anew", done)
	}
	want := "cli:fig|one\ncli:fig|two\n"
	if got := rows(t, filepath.Join(home, fileName), `SELECT s.key, m.content FROM messages m JOIN sessions s ON s.id = m.session_id ORDER BY m.rowid`); got != want {
		t.Errorf("what is written is\n%swant\n%s", got, want)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// The statements are the program's: the newest N messages in order, sessions as
// it lists them, and what its pruning of old ones does.
func TestNewestNListAndPruneWorkOnWhatIsWritten(t *testing.T) {
	s := memory.New()
	defer s.Close()
	home := t.TempDir()
	made(t, s, "old", say(1, skein.RoleUser, words("a")), say(1, skein.RoleAssistant, words("b")), say(0, skein.RoleUser, words("c")), say(1, skein.RoleAssistant, words("d")))
	made(t, s, "young", say(100, skein.RoleUser, words("e")))
	made(t, s, "pinned", say(2, skein.RoleUser, words("f")), skein.NewEvent(skein.KindChanged, 0, skein.Changed{Pinned: new(true)}))
	for _, id := range []skein.SessionID{"old", "young", "pinned"} {
		export(t, s, id, home)
	}
	path := filepath.Join(home, fileName)
	newest := `SELECT content FROM (SELECT *, rowid AS _row FROM messages WHERE session_id = ? AND deleted_at IS NULL
		ORDER BY timestamp DESC, rowid DESC LIMIT ? OFFSET 0) ORDER BY timestamp ASC, _row ASC`
	if got, want := rows(t, path, newest, uuid("old"), 3), "b\nc\nd\n"; got != want {
		t.Errorf("the newest 3 messages are\n%swant\n%s", got, want)
	}
	list := `SELECT id FROM sessions ORDER BY pinned DESC, updated_at DESC, rowid DESC LIMIT 20`
	if got, want := rows(t, path, list), uuid("pinned")+"\n"+uuid("young")+"\n"+uuid("old")+"\n"; got != want {
		t.Errorf("the list is\n%swant\n%s", got, want)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	run(t, db, `PRAGMA foreign_keys = ON`, `DELETE FROM sessions WHERE updated_at < '2026-08-21T09:00:02.000Z'`)
	if got, want := rows(t, path, `SELECT content FROM messages ORDER BY content`), "e\nf\n"; got != want {
		t.Errorf("after sessions were pruned there is\n%swant\n%s", got, want)
	}
}
