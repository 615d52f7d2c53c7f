package hooknews_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// What each agent tells its hook, and what it means.
func TestParseUnderstandsEachAgent(t *testing.T) {
	for _, c := range []struct {
		agent, event, payload string
		want                  hooknews.News
	}{
		{"claude-code", "", `{"session_id":"s","transcript_path":"/p/s.jsonl","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"hi"}`, hooknews.News{File: "/p/s.jsonl", Cwd: "/w", Event: "UserPromptSubmit", State: skein.StateWorking}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, hooknews.News{Event: "PreToolUse", State: skein.StateWorking, Tool: "Bash"}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash"}`, hooknews.News{Event: "PostToolUse", State: skein.StateWorking}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Tea?"}]}}`, hooknews.News{Event: "PreToolUse", State: skein.StateWaiting, Asks: skein.AsksQuestion, Tool: "AskUserQuestion", Text: "Tea?"}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm x"}}`, hooknews.News{Event: "PermissionRequest", State: skein.StateWaiting, Asks: skein.AsksPermission, Tool: "Bash", Text: "rm x"}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"Notification","notification_type":"permission_prompt","message":"Claude needs your permission to use Bash"}`, hooknews.News{Event: "Notification", State: skein.StateWaiting, Asks: skein.AsksPermission, Text: "Claude needs your permission to use Bash"}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"Notification","notification_type":"idle_prompt","message":"Claude is waiting for your input"}`, hooknews.News{Event: "Notification"}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"SessionStart","source":"compact"}`, hooknews.News{Event: "SessionStart"}},
		{"claude-code", "", `{"session_id":"s","hook_event_name":"StopFailure","error":"rate_limit"}`, hooknews.News{Event: "StopFailure", State: skein.StateFailed, Text: "rate_limit"}},
		{"codex", "", `{"type":"agent-turn-complete","thread-id":"s","cwd":"/w","input-messages":["x"],"last-assistant-message":"y"}`, hooknews.News{Cwd: "/w", Event: "agent-turn-complete", State: skein.StateIdle}},
		{"codex", "", `{"session_id":"s","transcript_path":null,"hook_event_name":"Stop"}`, hooknews.News{Event: "Stop", State: skein.StateIdle}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"Notification","notification_type":"ToolPermission","message":"Allow?"}`, hooknews.News{Event: "Notification", State: skein.StateWaiting, Asks: skein.AsksPermission, Text: "Allow?"}},
		{"gemini", "", `{"session_id":"s","hook_event_name":"AfterAgent"}`, hooknews.News{Event: "AfterAgent", State: skein.StateIdle}},
		{"cursor", "", `{"conversation_id":"s","hook_event_name":"stop","status":"error","workspace_roots":["/w"]}`, hooknews.News{Cwd: "/w", Event: "stop", State: skein.StateFailed, Text: "error"}},
		{"copilot", "preToolUse", `{"sessionId":"s","cwd":"/w","toolName":"bash"}`, hooknews.News{Cwd: "/w", Event: "preToolUse", State: skein.StateWorking, Tool: "bash"}},
		{"copilot", "errorOccurred", `{"sessionId":"s","error":{"message":"no quota"}}`, hooknews.News{Event: "errorOccurred", State: skein.StateFailed, Text: "no quota"}},
		{"x", "later", `{"session_id":"s","transcript_path":"../p"}`, hooknews.News{Event: "later"}},
	} {
		c.want.Agent, c.want.Session, c.want.At = c.agent, "s", noon
		got, err := hooknews.Parse(c.agent, c.event, []byte(c.payload), noon)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("Parse(%s): %v (-want +got)\n%s", c.payload, err, diff)
		}
	}
	for _, bad := range []string{"", "{", "[]", "{}", `{"session_id":""}`} {
		if n, err := hooknews.Parse("x", "", []byte(bad), noon); err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", bad, n)
		}
	}
}

// The board has the newest news of each session, whatever order it comes in.
func TestTheBoardHasTheNewestNewsOfEachSession(t *testing.T) {
	b := hooknews.At(filepath.Join(t.TempDir(), "state"))
	if all, err := b.All(); len(all) != 0 || err != nil {
		t.Errorf("All of no board = %v, %v", all, err)
	}
	put := func(session string, s skein.WorkState, tool string, after time.Duration, file string) {
		t.Helper()
		if err := b.Put(hooknews.News{Agent: "codex", Session: session, State: s, Tool: tool, File: file, At: noon.Add(after)}); err != nil {
			t.Fatal(err)
		}
	}
	put("a", skein.StateWorking, "sh", time.Second, "/a.jsonl")
	put("a", "", "", 2*time.Second, "")
	put("a", skein.StateWorking, "sh", 3*time.Second, "")
	put("a", skein.StateIdle, "", 0, "/old")
	put("d", skein.StateWaiting, "sh", time.Second, "")
	put("d", skein.StateWaiting, "", 7*time.Second, "") // a reminder, which does not say of what
	put("b/../c", skein.StateEnded, "", time.Minute, "")
	all, err := b.All()
	want := []hooknews.News{
		{Agent: "codex", Session: "b/../c", State: skein.StateEnded, Since: noon.Add(time.Minute), At: noon.Add(time.Minute)},
		{Agent: "codex", Session: "d", State: skein.StateWaiting, Tool: "sh", Since: noon.Add(time.Second), At: noon.Add(7 * time.Second)},
		{Agent: "codex", Session: "a", File: "/a.jsonl", State: skein.StateWorking, Tool: "sh", Since: noon.Add(time.Second), At: noon.Add(3 * time.Second)},
	}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("All: %v (-want +got)\n%s", err, diff)
	}
	if n, ok := b.Of("codex", "a"); !ok || n.Tool != "sh" {
		t.Errorf("Of(codex, a) = %+v, %t", n, ok)
	}
	if n, ok := b.Of("gemini", "a"); ok {
		t.Errorf("Of(gemini, a) = %+v, want none", n)
	}
}

// A board does not grow forever, and what is no news does no harm.
func TestTheBoardForgetsWhatIsOld(t *testing.T) {
	b := hooknews.Board(t.TempDir())
	put := func(session string) {
		t.Helper()
		if err := b.Put(hooknews.News{Agent: "codex", Session: session, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	put("old")
	for _, name := range []string{".new-1", "torn.json"} {
		if err := os.WriteFile(filepath.Join(string(b), name), []byte(`{"agent":`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(string(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		old := time.Now().Add(-8 * 24 * time.Hour)
		if err := os.Chtimes(filepath.Join(string(b), e.Name()), old, old); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := b.All(); len(all) != 1 || err != nil {
		t.Errorf("All = %v, %v, want the one that is news", all, err)
	}
	put("new")
	entries, err = os.ReadDir(string(b))
	if err != nil || len(entries) != 1 || !strings.HasPrefix(entries[0].Name(), "codex-") {
		t.Errorf("after a week, the board has %v, %v", entries, err)
	}
}

// One process imports what a board says; hooks ask whether there is one.
func TestOneProcessHasTheLock(t *testing.T) {
	b := hooknews.Board(filepath.Join(t.TempDir(), "hooks"))
	if b.Watched() {
		t.Error("a board that does not exist is watched")
	}
	unlock, ok, err := b.Lock()
	if err != nil || !ok || !b.Watched() {
		t.Fatalf("Lock = %t, %v; Watched = %t", ok, err, b.Watched())
	}
	if _, ok, err := b.Lock(); ok || err != nil {
		t.Errorf("Lock, once more = %t, %v", ok, err)
	}
	if err := unlock(); err != nil || b.Watched() {
		t.Errorf("unlock = %v; Watched = %t", err, b.Watched())
	}
	if _, known, err := b.Status(); known || err != nil {
		t.Errorf("Status without a watcher = %t, %v", known, err)
	}
	want := hooknews.Status{PID: 7, Since: noon, Bytes: 1, Size: 2, At: noon, Broke: "disk full", When: noon}
	if err := b.SetStatus(want); err != nil {
		t.Fatal(err)
	}
	got, known, err := b.Status()
	if diff := cmp.Diff(want, got); diff != "" || !known || err != nil {
		t.Errorf("Status = %t, %v (-want +got)\n%s", known, err, diff)
	}
}
