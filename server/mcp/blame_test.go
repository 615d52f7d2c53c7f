package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/mcp"
	"github.com/skein-dev/skein/store/memory"
)

func TestAgentsAskWhichSessionWroteALine(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	text := "package pear\n\nconst answer = 42\n"
	if err := os.WriteFile(filepath.Join(dir, "pear.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "Begin")
	st := memory.New()
	t.Cleanup(func() { st.Close() })
	secret := "sk-ant-api03-" + strings.Repeat("Ab1", 31) + "AA"
	at := skein.Time(1_700_000_000_000)
	if _, err := st.Append(t.Context(), skein.Batch{Session: "s1", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, at, skein.Created{Project: dir, Cwd: dir, Agent: "coder"}),
		skein.Say(at, skein.UserSays("what is the answer? the key is "+secret)),
		skein.Say(at, skein.Message{Role: skein.RoleAssistant, Model: "m1", Parts: []skein.Part{
			skein.TextPart("It is known."),
			{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "write", Input: skein.MustJSON(map[string]string{"path": "pear.go", "content": text})}},
		}}),
	}}); err != nil {
		t.Fatal(err)
	}
	c := started(t, mcp.Options{Store: st, Folder: dir})
	for _, x := range []struct {
		tool   string
		args   map[string]any
		want   string
		failed bool
	}{
		{"session_blame", map[string]any{"file": "pear.go"}, `"first":1,"last":3,"commit":`, false},
		{"session_blame", map[string]any{"file": "pear.go", "first": 3}, `"certainty":"exact","session":"s1"`, false},
		{"session_why", map[string]any{"file": "pear.go", "line": 3}, `"said":"It is known."`, false},
		{"session_why", map[string]any{"file": "pear.go", "line": 0}, "An argument was wrong", true},
		{"session_blame", map[string]any{"file": "none.go"}, "An argument was wrong", true},
		{"session_blame", map[string]any{"file": "/etc/hosts"}, "An argument was wrong", true},
		{"session_blame", map[string]any{"file": "pear.go", "revision": "--contents=/etc/hosts"}, "An argument was wrong", true},
	} {
		text, failed := c.call(x.tool, x.args)
		if failed != x.failed || !strings.Contains(text, x.want) || strings.Contains(text, secret) {
			t.Errorf("%s(%v) failed: %v\n%s\nwant %s in it, and no secret", x.tool, x.args, failed, text, x.want)
		}
	}
	if tools := started(t, mcp.Options{Store: st}).tools(); strings.Contains(strings.Join(tools, " "), "session_blame") {
		t.Errorf("without a folder the tools are %v", tools)
	}
}
