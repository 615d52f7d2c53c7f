package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestPlacesFollowCodexHome(t *testing.T) {
	env := map[string]string{}
	home := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(k string) string { return env[k] }}
	if got, want := Format().Places(home)[0], filepath.FromSlash("/home/ada/.codex/sessions"); got != want {
		t.Errorf("Places(without CODEX_HOME) begins with %s, want %s", got, want)
	}
	env["CODEX_HOME"] = filepath.FromSlash("/opt/codex")
	got := Format().Places(home)
	if want := filepath.FromSlash("/opt/codex/archived_sessions"); !slices.Contains(got, want) || len(got) != 3 {
		t.Errorf("Places(with CODEX_HOME) gives %q, want 3 with %s", got, want)
	}
}

func TestMatchKnowsRolloutsByNameAndBeginning(t *testing.T) {
	rollout := "/h/.codex/sessions/2026/01/02/" + testName
	meta := `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x"}}`
	for _, c := range []struct {
		path, head string
		want       bool
	}{
		{rollout, meta, true},
		{rollout, `{"id":"x","timestamp":"2025-07-02T10:00:00Z","instructions":null}`, true},
		{rollout, "", true},
		{rollout, `{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{}}`, true},
		{rollout, "garbage", false},
		{"/tmp/codex.jsonl", meta, true},
		{"/tmp/codex.json", meta, true},
		{"/tmp/example.jsonl", `{"id":"x","timestamp":"2025-07-02T10:00:00Z","instructions":null}`, true},
		{"/tmp/other.jsonl", `{"type":"user","uuid":"1","sessionId":"2"}`, false},
		{"/h/.codex/session_index.jsonl", `{"id":"x","thread_name":"y","updated_at":"z"}`, true},
		{"/h/.codex/history.jsonl", `{"session_id":"x","ts":1,"text":"y"}`, false},
	} {
		if got := Format().Match(c.path, []byte(c.head)).Sure > interop.No; got != c.want {
			t.Errorf("Match(%s, %.40q) is %t, want %t", c.path, c.head, got, c.want)
		}
	}
}

func TestMatchKnowsTheTestFiles(t *testing.T) {
	for _, file := range testFiles(t) {
		head, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if Format().Match(filepath.ToSlash(file), head[:min(len(head), 4096)]).Sure == interop.No {
			t.Errorf("Match(%s) is false, want true", file)
		}
	}
}

func TestTheIndexNamesSessionsOfOtherFiles(t *testing.T) {
	all := readAll(t, "session_index.jsonl", `{"id":"t1","thread_name":" Pears ","updated_at":"2026-01-02T03:04:05Z"}`+"\n"+`{"id":"t1","thread_name":"","updated_at":"x"}`)
	own := readAll(t, testName, wrap("session_meta", `{"id":"019de000-0000-7000-8000-00000000000a"}`))
	if a := all[0].Apart; len(a) != 1 || a[0].Of != "cx:thread:t1" || len(all[1].Apart) != 0 {
		t.Errorf("index makes %swant one title for cx:thread:t1", dump(all))
	}
	if want := threadKey("019de000-0000-7000-8000-00000000000a"); own[0].Key != want {
		t.Errorf("meta has the key %s, want %s", own[0].Key, want)
	}
}

func FuzzCodex(f *testing.F) {
	for _, file := range testFiles(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "{") {
			return
		}
		text = strings.ToValidUTF8(text, "")
		first := dump(readAll(t, testName, text))
		if again := dump(readAll(t, testName, text)); !bytes.Equal(first, again) {
			t.Errorf("reading twice gives\n%s\nand\n%s", first, again)
		}
		dump(readAll(t, "session_index.jsonl", text))
	})
}
