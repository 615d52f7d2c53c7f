package sqlite_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// shell runs SQL in the stock sqlite3 shell as a person would: without
// extensions, with foreign keys off, whatever its version.
func shell(t *testing.T, name string, sql ...string) string {
	t.Helper()
	out, err := shellRun(t, name, sql...)
	if err != nil {
		t.Fatalf("sqlite3 %s: %v\n%s", sql, err, out)
	}
	return out
}

func shellRun(t *testing.T, name string, sql ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("SKIPPED: the sqlite3 shell is not installed, so the recipes for it are not tested")
	}
	out, err := exec.Command(path, append([]string{"-batch", "-init", "/dev/null", "-cmd", ".timeout 60000", name}, sql...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// said returns a session's own messages as the shell shows them.
func said(t *testing.T, name, id string) []string {
	t.Helper()
	out := shell(t, name, "SELECT role, content FROM messages WHERE session_id = '"+id+"' ORDER BY id;")
	if out == "" {
		return nil
	}
	return strings.Split(out, "\n")
}

func TestShellListsSessionsAndMessages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "older", created(), user("hello"))
	e := user("needle two")
	e.Time = noon + 61_007
	add(t, s, "newer", created(), user("it's \"quoted\""), e)
	got := shell(t, name, "SELECT id, created_at, updated_at FROM sessions ORDER BY updated_at DESC;")
	want := "newer|2026-05-04T12:00:00.000Z|2026-05-04T12:01:01.007Z\nolder|2026-05-04T12:00:00.000Z|2026-05-04T12:00:00.000Z"
	if got != want {
		t.Errorf("the shell lists\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprint(said(t, name, "newer")); got != `[user|it's "quoted" user|needle two]` {
		t.Errorf("the shell shows the messages %s", got)
	}
	got = shell(t, name, "SELECT user_id, session_name, created_at, json_extract(item_json, '$.content') FROM items WHERE session_name = 'newer' ORDER BY created_at;")
	if !strings.HasSuffix(got, "local|newer|2026-05-04T12:01:01.007Z|needle two") {
		t.Errorf("the view items shows %s", got)
	}
	if got := shell(t, name, "SELECT locked_by, json_extract(metadata, '$.messages') FROM sessions WHERE id = 'newer';"); got != "|2" {
		t.Errorf("locked_by and metadata are %q", got)
	}
}

func TestShellCannotChangeMessages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("hello"))
	for _, sql := range []string{"UPDATE messages SET content = 'x';", "INSERT INTO messages (session_id, role, content) VALUES ('a', 'user', 'x');"} {
		if out, err := shellRun(t, name, sql); err == nil || !strings.Contains(out, "message") {
			t.Errorf("sqlite3 %s says %q (%v), want a refusal with a reason", sql, out, err)
		}
	}
	if got := fmt.Sprint(said(t, name, "a")); got != "[user|hello]" {
		t.Errorf("the messages are %s", got)
	}
}

// Sessions with forks of forks are deleted in the shell while the program runs.
func TestShellDeletes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	blob := skein.NewBlob([]byte("picture"))
	picture := skein.Say(noon, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Name: "p.png", Blob: blob.Hash}}}})
	paid := skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Request: "r", Model: "m", Usage: &skein.Usage{Output: 5}, Parts: []skein.Part{skein.TextPart("shownword")}})
	add(t, s, "p", created(), user("shownword one"), paid)
	if _, err := s.Append(t.Context(), skein.Batch{Session: "p", Events: []skein.Event{picture, user("goneword")}, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, "f1", fork("p", 2), user("in f1"))
	add(t, s, "f2", fork("p", 3), user("in f2"))
	add(t, s, "g", fork("f2", 4), user("in g"))
	add(t, s, "other", created(), user("goneword elsewhere"))
	before := map[skein.SessionID]string{}
	for _, id := range []skein.SessionID{"f1", "f2", "g", "other"} {
		before[id] = fmt.Sprint(events(t, s, id))
	}
	find(t, s, "goneword", 2) // what is not indexed could not be left in the index

	shell(t, name, "DELETE FROM messages WHERE session_id = 'p'; DELETE FROM sessions WHERE id = 'p';")

	for id, want := range before {
		if got := fmt.Sprint(events(t, s, id)); got != want {
			t.Errorf("after deleting the parent, the events of %s are\n%s\nwant\n%s", id, got, want)
		}
	}
	if _, err := s.Session(t.Context(), "p"); err == nil {
		t.Error("Session(p) finds what was deleted")
	}
	find(t, s, "goneword", 1)
	find(t, s, "shownword", 2)
	rows, err := s.Usage(t.Context(), skein.UsageQuery{By: skein.BySession})
	if err != nil || len(rows) != 1 || rows[0].Of != "f2" || rows[0].Usage.Output != 5 {
		t.Errorf("Usage() = %+v, %v, want what f2 took over", rows, err)
	}
	if got := shell(t, name, "SELECT count(*) FROM blobs; SELECT count(*) FROM blob_refs; SELECT count(*) FROM charges; INSERT INTO words (words, rank) VALUES ('integrity-check', 1);"); got != "0\n0\n1" {
		t.Errorf("blobs, references and charges left are %q, want none, none and one", got)
	}
	add(t, s, "f1", user("goes on"))
	if _, err := skein.Add(t.Context(), s, "p", user("late")); err == nil {
		t.Error("a late write brings the session back")
	}

	shell(t, name, "DELETE FROM sessions WHERE id = 'f2';")
	if got := fmt.Sprint(events(t, s, "g")); got != before["g"] {
		t.Errorf("after deleting its parent too, the events of g are\n%s\nwant\n%s", got, before["g"])
	}
	shell(t, name, "DELETE FROM sessions;")
	if got := shell(t, name, "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM bases), (SELECT count(*) FROM usage), (SELECT count(*) FROM purge_queue);"); got != "0|0|0|0" {
		t.Errorf("events, bases, usage and purge_queue left are %s, want 0|0|0|0", got)
	}
	add(t, s, "new", created(), user("goneword again"))
	find(t, s, "goneword", 1)
}

// Messages deleted in the shell leave gaps, so that what was said after them
// keeps its seq.
func TestShellDeletesMessagesOnly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("one word"), user("two word"), user("three word"))
	find(t, s, "word", 3)
	shell(t, name, "DELETE FROM messages WHERE content = 'two word';")
	if x, err := s.Session(t.Context(), "a"); err != nil || x.First != "" || x.LastPrompt != "" {
		t.Errorf("after a message was deleted the session still says %q and %q (%v)", x.First, x.LastPrompt, err)
	}
	evs := events(t, s, "a")
	if len(evs) != 4 || evs[2].Kind != skein.KindNoted || string(evs[2].Payload) != `{"name":"deleted"}` {
		t.Errorf("the events are %v, want an empty place at 3", evs)
	}
	if es, err := s.Newest(t.Context(), "a", 5, 0); err != nil || len(es) != 2 {
		t.Errorf("Newest() = %d messages, %v, want 2", len(es), err)
	}
	find(t, s, "word", 2)
	if x, err := s.Session(t.Context(), "a"); err != nil || x.Messages != 2 {
		t.Errorf("Session() has %d messages (%v), want 2", x.Messages, err)
	}
	add(t, s, "a", user("four word"))
	find(t, s, "word", 3)
}

// Messages are deleted without deleting the session: the counts in its row are
// right at once, everything else after the next start.
func TestShellLeavesCountsThatAreTrue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	paid := func(text, request string) skein.Event {
		return skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Request: request, Model: "m", Usage: &skein.Usage{Output: 5}, Parts: []skein.Part{skein.TextPart(text)}})
	}
	piece := func(text string) skein.Event {
		return skein.Say(noon, skein.Message{ID: "pieces", Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(text)}})
	}
	add(t, s, "a", created(), user("one word"), paid("two word", "r1"), user("three word"), piece("four word"), piece("five word"), user("six word"), paid("seven word", "r2"))
	add(t, s, "f", fork("a", 3), user("in f"))
	add(t, s, "b", created(), user("early"), paid("secretish", "r3"))
	add(t, s, "b", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: user("amendedword").Payload}))
	find(t, s, "amendedword", 1)

	counts := func(id string) string {
		return shell(t, name, "SELECT messages, turns, state ->> '$.usage.output', state ->> '$.usage.requests' FROM sessions WHERE id = '"+id+"';")
	}
	shell(t, name, "DELETE FROM messages WHERE content IN ('three word', 'four word');")
	if got := counts("a"); got != "5|2|10|2" {
		t.Errorf("after two messages were deleted messages, turns, output and requests are %s, want 5, 2, 10 and 2", got)
	}
	shell(t, name, "DELETE FROM messages WHERE session_id = 'b';")
	if got := counts("b"); got != "0|0|0|0" {
		t.Errorf("after all messages were deleted messages, turns, output and requests are %s, want none", got)
	}
	find(t, s, "amendedword", 0)
	shut(t, s)
	s = open(t, name)
	shut(t, s) // its maintenance is done by now
	s = open(t, name)
	for _, id := range []skein.SessionID{"a", "b", "f"} {
		got, err := s.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want, err := skein.Fold(id, events(t, s, id))
		if err != nil {
			t.Fatal(err)
		}
		if id != "f" { // it is charged nothing for what it shows of its parent
			equalJSON(t, fmt.Sprintf("Session(%s)", id), got, want)
		}
	}
	if r := wantHit(t, s, skein.Query{Session: "a"}, "six"); r.Turn != 2 {
		t.Errorf("the sixth message is found in turn %d, want 2", r.Turn)
	}
	shell(t, name, "DELETE FROM messages WHERE session_id = 'a';") // f shows the first two
	if got := counts("a"); got != "2|1|5|1" {
		t.Errorf("after all messages but those that a fork shows were deleted messages, turns, output and requests are %s, want 2, 1, 5 and 1", got)
	}
	if got := len(events(t, s, "f")); got != 5 {
		t.Errorf("the fork shows %d events, want 5", got)
	}
	if out := shell(t, name, "SELECT count(*) FROM maintenance WHERE name LIKE 'recount %';"); out != "1" {
		t.Errorf("%s sessions are to be counted anew, want 1", out)
	}
}

func equalJSON(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := skein.MustJSON(got), skein.MustJSON(want); string(g) != string(w) {
		t.Errorf("%s is\n%s\nwant\n%s", what, g, w)
	}
}

// find searches for words and checks that there are n hits.
func find(t *testing.T, s skein.Store, words string, n int) {
	t.Helper()
	q, err := search.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	q.Each, q.Deadline = true, 60e9
	r, err := s.Search(t.Context(), q)
	if err != nil || len(r.Hits) != n {
		t.Errorf("Search(%s) = %d hits, %v, want %d: %+v", words, len(r.Hits), err, n, r.Hits)
	}
}
