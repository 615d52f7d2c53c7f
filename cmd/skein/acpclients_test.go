//go:build unix && programs

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// A clientHome is a person's home with clients of the protocol from npm.
type clientHome struct {
	*agentHome
	clients string // the folder with the clients
	work    string
}

func newClientHome(t *testing.T, s *llmtest.Server) *clientHome {
	t.Helper()
	clients := os.Getenv(acptest.SchemaVariable)
	if clients == "" {
		t.Fatal(acptest.SchemaVariable + " is not set: scripts/acp FOLDER installs the clients there")
	}
	d := &clientHome{newAgentHome(t, "ANTHROPIC_API_KEY="+llmtest.Key, "ANTHROPIC_BASE_URL="+s.URL, "SKEIN_MODEL=anthropic:claude-x", "SKEIN_ACP="+clients), clients, ""}
	d.file("work/a.txt", "on the disk", 0o600)
	d.work = filepath.Join(d.home, "work")
	return d
}

// types runs a program of the clients' in the work folder, and returns what it writes.
func (d *clientHome) types(program string, args ...string) string {
	d.Helper()
	cmd := exec.CommandContext(d.Context(), program, args...)
	cmd.Dir, cmd.Env = d.work, d.env
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(&out, d.Output()) // to see how far one came that hangs
	cmd.Stderr = cmd.Stdout
	if err := cmd.Run(); err != nil {
		d.Fatalf("%s %q: %v", program, args, err)
	}
	return out.String()
}

// The protocol's client for TypeScript, which refuses what the protocol does not allow,
// works with skein's own agent: it is asked, has files, cancels, forks, lists, and opens
// the session again after skein was killed.
func TestACPTypeScriptClient(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	long := llmtest.Holds(llmtest.Says(strings.Repeat("word ", 500)), 2000, hold)
	s := llmtest.Anthropic(t,
		llmtest.Thinks("Hm.", calls("c1", "read_file", map[string]any{"path": "a.txt"})),
		calls("c2", "edit_file", map[string]any{"path": "a.txt", "old_string": "the editor", "new_string": "my hands"}),
		calls("c3", "shell", map[string]any{"command": "echo ran"}), llmtest.Says("Done."),
		long, long,
	)
	s.Otherwise(llmtest.Says("A fine title"))
	d := newClientHome(t, s)
	script, err := filepath.Abs("testdata/acpclient.mjs")
	if err != nil {
		t.Fatal(err)
	}
	got := d.types("node", script, d.skein, d.work)
	want := `{"what":"hello","version":1,"load":true}
{"what":"new","modes":["ask","auto","plan"],"options":["mode","model","effort","agent"]}
{"what":"wrote","content":"in my hands"}
{"what":"asked","title":"shell echo ran","kinds":["allow_once","allow_always","reject_once"]}
{"what":"turn","stop":"end_turn","kinds":["agent_message_chunk","agent_thought_chunk","available_commands_update","session_info_update","tool_call","tool_call_update"]}
{"what":"set","effort":"low"}
{"what":"load","kinds":["agent_message_chunk","agent_thought_chunk","tool_call","tool_call_update","user_message_chunk"]}
{"what":"canceled","stop":"cancelled"}
{"what":"list","n":2,"forked":true}
{"what":"deleted","n":1}
{"what":"lost"}
{"what":"ended","error":"ACP connection closed"}
{"what":"again","has":true}
{"what":"last","stop":"end_turn"}
`
	if got != want {
		t.Errorf("the client has seen\n%s\nwant\n%s", got, want)
	}
}

// acpx, a client without a window, works with skein's own agent, which skein has entered in
// its configuration: it continues its session in another process, and cancels.
func TestACPHeadlessClient(t *testing.T) {
	s := llmtest.Anthropic(t, calls("c1", "shell", map[string]any{"command": "echo ran > effect"}), llmtest.Says("The first is done."), llmtest.Says("The second is done."))
	s.Otherwise(llmtest.Says("A fine title"))
	d := newClientHome(t, s)
	acpx := filepath.Join(d.clients, "node_modules", ".bin", "acpx")
	d.types(d.skein, "acp", "--install", "acpx", "--yes", "skein")
	d.types(acpx, "skein", "sessions", "new")
	defer d.types(acpx, "skein", "sessions", "close")
	for _, is := range []struct{ says, want string }{
		{"one", "The first is done."},
		{"two", "The second is done."},
		{"/context", "agent: the default assistant"},
	} {
		if got := d.types(acpx, "--approve-all", "skein", "prompt", is.says); !strings.Contains(got, is.want) || !strings.Contains(got, "[done] end_turn") {
			t.Errorf("after %q acpx says\n%s", is.says, got)
		}
	}
	if _, err := os.Stat(filepath.Join(d.work, "effect")); err != nil {
		t.Error(err)
	}
	if got := d.types(acpx, "skein", "set-mode", "plan"); !strings.Contains(got, "mode set: plan") {
		t.Errorf("acpx says %s", got)
	}
	if got := d.types(acpx, "skein", "set", "effort", "high"); !strings.Contains(got, "effort=high") {
		t.Errorf("acpx says %s", got)
	}
	if got := d.types(d.skein, "show", "last"); strings.Count(got, "is done.") != 2 {
		t.Errorf("the store has\n%s", got)
	}
}
