//go:build programs && unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
)

// Claude Code does not write down that it asks for a permission: its hooks say so, and
// now says it until the person has answered.
func TestRealAgentsAskAndNowSaysSo(t *testing.T) {
	s := llmtest.Anthropic(t)
	s.Lax()
	s.Otherwise(llmtest.Says("Gladly."))
	p := newPane(t, 120, 50,
		"ANTHROPIC_BASE_URL="+s.URL, "ANTHROPIC_API_KEY="+llmtest.Key, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	key := llmtest.Key
	for name, text := range map[string]string{
		".claude/settings.json": `{"model": "claude-sonnet-4-5"}`,
		".claude.json": `{"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": {"approved": ["` + key[max(0, len(key)-20):] + `"]},
			"projects": {"` + p.work + `": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}`,
	} {
		if err := os.MkdirAll(filepath.Join(p.home, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(p.dir, "skein") // setup enters it in the settings, so it must be one by itself
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	p.enter(program + " setup --yes --except service && echo set up")
	p.await("^set up")
	p.tmux("new-window", "-d", "-n", "watch", "-e", "HOME="+p.home, "-e", "SKEIN_HOME="+p.home, program+" import --watch")
	p.clear()
	last := ""
	t.Cleanup(func() { t.Logf("now says %s", last) })
	state := func(want skein.WorkState) (l struct{ Tool, Asks, Text string }) {
		t.Helper()
		p.until(func(string) bool {
			c := exec.CommandContext(t.Context(), program, "now", "--json")
			c.Env = append(os.Environ(), "HOME="+p.home, "SKEIN_HOME="+p.home)
			out, err := c.Output()
			if err != nil {
				t.Fatalf("now: %v", err)
			}
			last = string(out)
			var is struct {
				State            skein.WorkState
				Tool, Asks, Text string
			}
			line, _, _ := strings.Cut(last, "\n")
			_ = json.Unmarshal([]byte(line), &is)
			l.Tool, l.Asks, l.Text = is.Tool, is.Asks, is.Text
			return is.State == want
		}, "belongs to a session that is "+string(want))
		return l
	}
	p.enter(filepath.Join(agentsFolder(t), ".bin", "claude"))
	p.await(`❯`)
	s.Reply(llmtest.Calls(skein.Call{ID: "toolu_1", Name: "Bash", Input: []byte(`{"command":"touch made","description":"Make a file"}`)}))
	p.keys("touch made")
	p.keys("Enter")
	if l := state(skein.StateWaiting); l.Tool != "Bash" || l.Asks != "permission" || l.Text != "touch made" {
		t.Errorf("while Claude Code asks, now says %+v, want Bash, permission, touch made", l)
	}
	p.keys("Enter")
	state(skein.StateIdle)
	if _, err := os.Stat(filepath.Join(p.work, "made")); err != nil {
		t.Error(err)
	}
	p.enter("/exit")
	state(skein.StateEnded)
}
