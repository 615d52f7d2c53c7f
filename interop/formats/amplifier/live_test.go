package amplifier_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// later is when a file was touched.
var later = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

const liveID = "0f1e2d3c-0000-4000-8000-00000000000a"

// A folder is one session's, as Amplifier's store keeps it.
type folder struct {
	*testing.T
	path  string
	saves int
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &folder{T: t, path: filepath.Join(root, ".amplifier", "projects", "-home-ann-shop", "sessions", liveID)}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *folder) write(name, data string) {
	f.Helper()
	at := filepath.Join(f.path, name)
	if was, err := os.ReadFile(at); err == nil && !strings.HasSuffix(name, ".jsonl.log") {
		if err := os.WriteFile(at+".backup", was, 0o600); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.WriteFile(at+".tmp", []byte(data), 0o600); err != nil {
		f.Fatal(err)
	}
	if err := os.Rename(at+".tmp", at); err != nil {
		f.Fatal(err)
	}
}

// save does what the store does: each file is backed up and replaced.
func (f *folder) save(lines ...string) {
	f.Helper()
	f.saves++
	f.write("transcript.jsonl", strings.Join(lines, "\n")+"\n")
	f.write("metadata.json", fmt.Sprintf("{\n  \"session_id\": %q,\n  \"created\": \"2026-09-03T08:00:00.000001+00:00\",\n  \"turn_count\": %d,\n  \"working_dir\": \"/home/ann/shop\",\n  \"odd\": [\n    1.50\n  ]\n}", liveID, f.saves))
}

// logs appends to the log.
func (f *folder) logs(lines ...string) {
	f.Helper()
	out, err := os.OpenFile(filepath.Join(f.path, "events.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.Fatal(err)
	}
	for _, l := range lines {
		if _, err := out.WriteString(l + "\n"); err != nil {
			f.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		f.Fatal(err)
	}
}

func (f *folder) read(name string) string {
	f.Helper()
	b, err := os.ReadFile(filepath.Join(f.path, name))
	if err != nil {
		f.Fatal(err)
	}
	return string(b)
}

func user(second int, text string) string {
	return fmt.Sprintf(`{"role": "user", "content": %q, "metadata": {"timestamp": "2026-09-03T08:00:%02d.000+00:00"}}`, text, second)
}

func logLine(second int, event, data string) string {
	return fmt.Sprintf(`{"ts": "2026-09-03T08:00:%02d.500+00:00", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": %q, "session_id": %q, "data": %s}`, second, event, liveID, data)
}

// words returns what is said in a session, with its amendments.
func words(t testing.TB, s *memory.Store, id string) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), skein.SessionID(id), 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		for _, p := range e.Message.Parts {
			switch {
			case p.Call != nil:
				all = append(all, "call:"+p.Call.ID)
			case p.Result != nil:
				all = append(all, "result:"+p.Result.CallID)
			default:
				all = append(all, string(p.Text))
			}
		}
	}
	return strings.Join(all, " | ")
}

func TestASaveAddsWhatIsNew(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.logs(logLine(0, "session:start", `{}`), logLine(1, "prompt:submit", `{"prompt": "one"}`))
	bring(t, s, f.path)
	if got := session(t, s, liveID); got.Messages != 0 {
		t.Errorf("before the first save the session has %d messages, want 0", got.Messages)
	}
	f.save(user(1, "one"))
	bring(t, s, f.path)
	if got := words(t, s, liveID); got != "one" {
		t.Errorf("after the first save it says %q, want the prompt once", got)
	}
	f.logs(logLine(3, "prompt:submit", `{"prompt": "two"}`))
	f.save(user(1, "one"), user(3, "two"))
	rep := bring(t, s, f.path)
	if got := words(t, s, liveID); got != "one | two" || rep.Events != 2 {
		t.Errorf("after the second it says %q, with %d new events, want one | two and 2", got, rep.Events)
	}
	if rep := bring(t, s, f.path); rep.Events != 0 || rep.Unchanged != 1 {
		t.Errorf("Import again = %+v, want it unchanged", rep)
	}
}

func TestASessionThatEndedBeforeItsFirstSaveHasItsPrompts(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.logs(logLine(0, "session:start", `{}`), logLine(1, "prompt:submit", `{"prompt": "one"}`), logLine(2, "session:end", `{}`))
	bring(t, s, f.path)
	if got := words(t, s, liveID); got != "one" {
		t.Errorf("the session says %q, want its prompt", got)
	}
}

func TestTheLogTellsOfAParentBeforeTheFirstSave(t *testing.T) {
	for _, c := range []struct{ event, data, want string }{
		{"session:start", `{"parent_id": "p-1"}`, "p-1"},
		{"session:fork", `{"parent": "p-1"}`, "p-1"},
		{"session:fork", `{"parent_id": "p-1", "data": {"parent": "p-1"}}`, "p-1"},
		{"session:fork", `{"data": {"parent": "p-1"}}`, "p-1"},
		{"tool:pre", `{"parent": "p-1"}`, ""},
	} {
		f, s := newFolder(t), memory.New()
		defer s.Close()
		f.logs(logLine(0, c.event, c.data), logLine(1, "session:start", `{}`))
		bring(t, s, f.path)
		got := ""
		if p := session(t, s, liveID).Parent; p != nil {
			got = string(p.Session)
		}
		if got != c.want {
			t.Errorf("after %s %s the session hangs on %q, want %q", c.event, c.data, got, c.want)
		}
	}
}

// A copied log still names the parent of the session that it was copied from.
func TestTheCopiedLogOfAForkTellsOfNoOtherParent(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	for _, event := range []string{"session:fork", "session:start"} {
		f.logs(strings.TrimSuffix(logLine(0, event, `{"parent_id": "p-1"}`), "}") + `, "parent_session_id": "0f1e-1111_counter"}`)
	}
	bring(t, s, f.path)
	if p := session(t, s, liveID).Parent; p != nil {
		t.Errorf("the fork hangs on %+v, want nothing while there is no metadata", p)
	}
}

func TestASubAgentSeenWhileItRunsIsItsParentsChild(t *testing.T) {
	const parent, sub = "e3f1c005-0000-4000-8000-000000000005", "0000000000000000-1111222233334444_stock-keeper"
	from := filepath.Join("testdata", "agents", "projects", "-home-ann-shop", "sessions", sub)
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.path = filepath.Join(filepath.Dir(f.path), sub)
	for _, step := range [][]string{{"events.jsonl"}, {"events.jsonl", "transcript.jsonl", "metadata.json"}} {
		if err := os.MkdirAll(f.path, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range step {
			data, err := os.ReadFile(filepath.Join(from, name))
			if err != nil {
				t.Fatal(err)
			}
			f.write(name, string(data))
		}
		bring(t, s, f.path)
		if p := session(t, s, sub).Parent; p == nil || p.Session != parent || p.Why != skein.Child {
			t.Errorf("with %v the session hangs on %+v, want a child of %s", step, p, parent)
		}
	}
}

func TestARepairIsAmended(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	call := `{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "bash", "arguments": {}}]}`
	fixed := `{"role": "tool", "tool_call_id": "c1", "content": "{\"error\": \"unknown_error\"}"}`
	f.save(user(1, "one"), call, user(5, "five"), user(6, "six"))
	bring(t, s, f.path)
	f.save(user(1, "one"), call, fixed, user(5, "five"))
	rep := bring(t, s, f.path)
	if got := words(t, s, liveID); got != "one | call:c1 | five | result:c1" || rep.Amended != 1 {
		t.Errorf("after the repair it says %q, amended %d, want the result too, and six withdrawn", got, rep.Amended)
	}
	if got := words(t, s, liveID); strings.Contains(got, "six") {
		t.Errorf("it still says %q", got)
	}
}

func TestWhatWentOnHereIsWrittenBack(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.logs(logLine(0, "session:start", `{}`))
	f.save(user(1, "one"))
	bring(t, s, f.path)
	was := f.read("transcript.jsonl")
	meta := f.read("metadata.json")
	at := skein.Time(1788422410000)
	answer := skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "m", Usage: &skein.Usage{Input: 5, Output: 2, Reported: 1500}, Parts: []skein.Part{skein.TextPart("né <b>"), {Kind: skein.PartCall, Call: &skein.Call{ID: "c9", Name: "bash", Input: json.RawMessage(`{"a":[1,2.0]}`)}}}}
	result := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c9", Name: "bash", Text: "ok\n"}}}}
	if _, err := s.Append(t.Context(), skein.Batch{Session: liveID, Events: []skein.Event{skein.Say(at, answer), skein.Say(at+1, result)}}); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Sync(t.Context(), s, amplifier.Format(), liveID)
	if err != nil || done.Events != 2 || len(done.Losses) != 0 {
		t.Fatalf("Sync = %+v, %v, want 2 events and no loss", done, err)
	}
	want := was + `{"role": "assistant", "content": "né <b>", "tool_calls": [{"id": "c9", "tool": "bash", "arguments": {"a": [1, 2.0]}}], "metadata": {"timestamp": "2026-09-03T08:00:10.000+00:00"}}
{"role": "tool", "name": "bash", "tool_call_id": "c9", "content": "ok\n", "metadata": {"timestamp": "2026-09-03T08:00:10.001+00:00"}}
`
	if got := f.read("transcript.jsonl"); got != want {
		t.Errorf("the transcript is\n%s\nwant\n%s", got, want)
	}
	if got := f.read("transcript.jsonl.backup"); got != was {
		t.Errorf("the transcript's backup is\n%s\nwant what was there\n%s", got, was)
	}
	if got := f.read("metadata.json.backup"); got != meta {
		t.Errorf("the metadata's backup is\n%s\nwant what was there\n%s", got, meta)
	}
	if got, want := f.read("metadata.json"), strings.Replace(meta, "\n}", ",\n  \"model\": \"anthropic/m\"\n}", 1); got != want {
		t.Errorf("the metadata is\n%s\nwant\n%s", got, want)
	}
	if got := f.read("events.jsonl"); !strings.Contains(got, `"cost_usd": "0.0000015"`) || strings.Count(got, "\n") != 4 {
		t.Errorf("the log is\n%s\nwant the start, the cost, the call and its result", got)
	}
	if rep := bring(t, s, f.path); rep.Events != 0 {
		t.Errorf("Import after Sync adds %d events, want 0", rep.Events)
	}
	f.save(append(strings.Split(strings.TrimSpace(f.read("transcript.jsonl")), "\n"), user(50, "and on"))...)
	bring(t, s, f.path)
	if got := words(t, s, liveID); got != "one | né <b> | call:c9 | result:c9 | and on" {
		t.Errorf("after Amplifier went on it says %q", got)
	}
}

func TestALineThatGoesOnWithTheFolderIsNotItsOwnParent(t *testing.T) {
	f, s := newFolder(t), memory.New()
	defer s.Close()
	f.save(user(1, "one"))
	bring(t, s, f.path)
	say := func(id skein.SessionID, text string) {
		t.Helper()
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{skein.Say(1788422410000, skein.UserSays(text))}}); err != nil {
			t.Fatal(err)
		}
	}
	say(liveID, "here")
	f.save(user(1, "one"), user(2, "there"))
	if _, err := writeback.Sync(t.Context(), s, amplifier.Format(), liveID); !errors.Is(err, interop.ErrChanged) {
		t.Fatalf("Sync after both went on = %v, want %v", err, interop.ErrChanged)
	}
	var fork skein.SessionID
	for sess, err := range s.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if sess.ID != liveID {
			fork = sess.ID
		}
	}
	say(fork, "and on")
	if done, err := writeback.Sync(t.Context(), s, amplifier.Format(), fork); err != nil || done.Events != 1 {
		t.Fatalf("Sync(%s) = %+v, %v, want 1 event", fork, done, err)
	}
	if got := f.read("metadata.json"); strings.Contains(got, "parent_id") {
		t.Errorf("the metadata is\n%s\nwant no parent, for there was none", got)
	}
	if got := f.read("events.jsonl"); strings.Contains(got, `"parent_id": "`) {
		t.Errorf("the log is\n%s\nwant no parent in it", got)
	}
}
