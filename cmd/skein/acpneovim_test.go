//go:build unix && programs

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/llm/llmtest"
)

// Neovim works with skein's own agent, by a client of 90 lines over jobstart: the agent
// reads and writes a buffer that is not saved, and a second process lists the session,
// loads it and goes on. The plugins that speak the protocol do not run in Debian 12's
// Neovim 0.7.2: CodeCompanion 19 wants 0.12, avante 0.10.1.
func TestACPNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Fatal("install neovim: ", err)
	}
	s := llmtest.Anthropic(t,
		calls("c1", "read_file", map[string]any{"path": "a.txt"}),
		calls("c2", "edit_file", map[string]any{"path": "a.txt", "old_string": "not saved", "new_string": "changed"}),
		llmtest.Says("Done."), llmtest.Says("Gone on."))
	s.Otherwise(llmtest.Says("A fine title"))
	h := newAgentHome(t, "ANTHROPIC_API_KEY="+llmtest.Key, "ANTHROPIC_BASE_URL="+s.URL, "SKEIN_MODEL=anthropic:claude-x")
	h.file("work/a.txt", "on the disk\n", 0o600)
	script, err := filepath.Abs("testdata/acpclient.lua")
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(h.home, "work")
	args, err := json.Marshal([]string{h.skein, work})
	if err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "SKEIN_TEST_NVIM="+string(args))
	d := &clientHome{h, "", work}
	got := d.types(nvim, "--headless", "-u", "NONE", "-n", "-c", "luafile "+script)
	var all []map[string]any
	for dec := json.NewDecoder(strings.NewReader(got)); ; {
		var one map[string]any
		if dec.Decode(&one) != nil {
			break
		}
		all = append(all, one)
	}
	if text, want := string(mustJSON(all)), `[{"said":"Done.","stop":"end_turn","what":"turn"},{"text":"in the buffer, changed","what":"buffer"},{"n":1,"same":true,"what":"list"},{"prompt":true,"said":"Done.","what":"load"},{"said":"Gone on.","stop":"end_turn","what":"turn"}]`; text != want {
		t.Errorf("Neovim saw\n%s\nwant\n%s\nof\n%s", text, want, got)
	}
}
