//go:build programs && unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// An editorAgent is an agent as skein acp starts it, and what it is to do there.
type editorAgent struct {
	realAgent
	word  string
	touch func(path string) skein.Call // makes a file
	lacks map[string]string            // what it cannot do, and why
}

func editorAgents(t *testing.T) []editorAgent {
	real := map[string]realAgent{}
	for _, a := range realAgents() {
		real[a.format] = a
	}
	call := func(tool, arg string, more map[string]any) func(string) skein.Call {
		return func(path string) skein.Call {
			args := map[string]any{arg: "touch " + path, "description": "make a file"}
			maps.Copy(args, more)
			b, err := json.Marshal(args)
			if err != nil {
				t.Fatal(err)
			}
			return skein.Call{ID: "call_touch_" + filepath.Base(path), Name: tool, Input: b}
		}
	}
	opencode := real["opencode"]
	opencode.files = func(url string) map[string]string {
		return map[string]string{".config/opencode/opencode.json": `{"model": "anthropic/claude-sonnet-4-5", "permission": {"bash": "ask"},
  "provider": {"anthropic": {"options": {"baseURL": "` + url + `/v1", "apiKey": "` + llmtest.Key + `"}}}}`}
	}
	codex := real["codex"]
	codex.env = func(string) []string { // in its usual mode a model decides what a person is asked
		return []string{"TEST_KEY=" + llmtest.Key, "INITIAL_AGENT_MODE=read-only"}
	}
	codex.files = func(url string) map[string]string {
		return map[string]string{".codex/config.toml": "model = \"gpt-5\"\nmodel_provider = \"test\"\n\n" +
			"[model_providers.test]\nname = \"test\"\nbase_url = \"" + url + "\"\nenv_key = \"TEST_KEY\"\nwire_api = \"responses\"\n"}
	}
	qwen := realAgent{
		format: "qwen", serve: llmtest.Chat,
		env: func(url string) []string {
			return []string{"OPENAI_API_KEY=" + llmtest.Key, "OPENAI_BASE_URL=" + url, "OPENAI_MODEL=gpt-4o"}
		},
		files: func(string) map[string]string {
			return map[string]string{".qwen/settings.json": `{"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false}}`}
		},
	}
	return []editorAgent{
		{real["claude-code"], "claude", call("Bash", "command", nil), nil},
		{codex, "codex", call("exec_command", "cmd", map[string]any{"sandbox_permissions": "require_escalated", "justification": "to make it"}), nil},
		{opencode, "opencode", call("bash", "command", nil), nil},
		{qwen, "qwen", call("run_shell_command", "command", map[string]any{"is_background": false}), nil},
	}
}

// An editorDesk is where an editor runs an agent through skein acp.
type editorDesk struct {
	*agentHome
	models map[string]*llmtest.Server // by the word of the agent that asks them
}

// An agentConnection is a skein acp that an editor has started.
type agentConnection struct {
	*acptest.ScriptedEditor
	cmd *exec.Cmd
	in  io.WriteCloser
}

func (d *editorDesk) connect(agent string) *agentConnection {
	d.Helper()
	cmd := d.command("work", d.skein, "acp", agent)
	cmd.Stderr = d.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		d.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.Fatal(err)
	}
	c := &agentConnection{acptest.NewEditor(d.T, out, in), cmd, in}
	c.Initialize()
	return c
}

// leave ends the editor's side.
func (c *agentConnection) leave() {
	c.in.Close()
	_ = c.cmd.Wait() // how it ends is the agent's
}

// open asks for a session by a method.
func (c *agentConnection) open(method, id, cwd string) (opened string, err error) {
	a, ok := c.Await(c.Send(method, map[string]any{"sessionId": id, "cwd": cwd, "mcpServers": []any{}}))
	switch {
	case !ok:
		return "", fmt.Errorf("%s: the agent ended", method)
	case a.Error != nil:
		return "", fmt.Errorf("%s: %s", method, a.Error.Message)
	}
	var r struct{ SessionID string }
	_ = json.Unmarshal(a.Result, &r) // load and resume name none
	return r.SessionID, nil
}

// prompt returns how a turn ended.
func (c *agentConnection) prompt(id, text string) string {
	a, ok := c.Await(c.Send("session/prompt", acptest.PromptOf(id, text)))
	switch {
	case !ok:
		return "the agent ended"
	case a.Error != nil:
		return a.Error.Message
	}
	var r struct{ StopReason string }
	if err := json.Unmarshal(a.Result, &r); err != nil {
		return err.Error()
	}
	return r.StopReason
}

// Each agent works in an editor through skein acp, and everything is stored once.
func TestRealAgentsWorkInEditors(t *testing.T) {
	var matrix []string
	for _, a := range editorAgents(t) {
		t.Run(a.word, func(t *testing.T) { matrix = append(matrix, a.worksInAnEditor(t)) })
	}
	t.Logf("agent x (what was seen):\n%s", strings.Join(matrix, "\n"))
}

// newEditorDesk returns a desk at which all of some agents can be run.
func newEditorDesk(t *testing.T, all ...editorAgent) *editorDesk {
	d := &editorDesk{models: map[string]*llmtest.Server{}}
	env := []string{"PATH=" + filepath.Join(agentsFolder(t), ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH")}
	for _, a := range all {
		s := a.serve(t)
		s.Lax()
		s.Otherwise(llmtest.Says("Gladly."))
		d.models[a.word], env = s, append(env, a.env(s.URL)...)
	}
	d.agentHome = newAgentHome(t, env...)
	for _, a := range all {
		for name, text := range a.files(d.models[a.word].URL) {
			d.file(name, text, 0o600)
		}
	}
	d.file("work/README", "tea", 0o600)
	return d
}

func (a *editorAgent) worksInAnEditor(t *testing.T) string {
	d := newEditorDesk(t, *a)
	s := d.models[a.word]
	cwd := filepath.Join(d.home, "work")
	seen := []string{a.word}
	see := func(what string, ok bool, detail ...any) {
		t.Helper()
		why, lacks := a.lacks[what]
		switch {
		case ok:
			seen = append(seen, what)
		case lacks:
			seen = append(seen, what+": no ("+why+")")
		default:
			t.Errorf("%s: %s", what, fmt.Sprint(detail...))
			seen = append(seen, what+": NO")
		}
	}
	watch := d.command("", d.skein, "import", "--watch") // reads the agent's own file meanwhile
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	c := d.connect(a.word)
	c.PermitKind = "allow_once"
	id := c.New(cwd)
	how := c.prompt(id, "good morning")
	see("record", how == "end_turn" && strings.Contains(d.show(id), "Gladly."), how)

	made := filepath.Join(cwd, "made")
	s.When(llmtest.Calls(a.touch(made)), "make a file", `"tools":[{`) // others are for titles and the like
	how = c.prompt(id, "make a file")
	see("tool", how == "end_turn" && exists(made), how)
	see("permission", c.has(`"session/request_permission"`) && strings.Contains(d.events(id), "acp:decision"), "none was asked for, or it is not stored")

	never := make(chan struct{})
	s.Otherwise(llmtest.Holds(llmtest.Says("Gladly, at length."), 1, never))
	n := len(s.Requests())
	asked := c.Send("session/prompt", acptest.PromptOf(id, "go on for ever"))
	d.until("the agent asks its model", func() bool { return len(s.Requests()) > n })
	c.Cancel(id)
	ans, ok := c.Await(asked)
	see("cancel", ok && strings.Contains(string(ans.Result), "cancelled"), string(ans.Result))

	n = len(s.Requests())
	c.Send("session/prompt", acptest.PromptOf(id, "be killed"))
	d.until("the agent asks its model", func() bool { return len(s.Requests()) > n })
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	_ = c.cmd.Wait()
	close(never)
	s.Otherwise(llmtest.Says("Gladly."))
	see("kill", strings.Contains(d.show(id), "be killed"), "the prompt is gone")

	c = d.connect(a.word)
	list := string(c.Ask("session/list", map[string]any{"cwd": cwd}, nil).Result)
	see("list", strings.Contains(list, id), list)
	_, err := c.open("session/load", id, cwd)
	see("load", err == nil && c.has("good morning") && c.prompt(id, "after the load") == "end_turn", err)
	c.leave()

	c = d.connect(a.word)
	_, err = c.open("session/resume", id, cwd)
	see("resume", err == nil && c.prompt(id, "after resuming") == "end_turn", err)
	fork, err := c.open("session/fork", id, cwd)
	see("fork", err == nil && fork != "" && fork != id && c.prompt(fork, "in the fork") == "end_turn", err)
	c.leave()

	if err := syscall.Kill(-watch.Process.Pid, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = watch.Wait()
	turns := []string{"good morning", "make a file", "go on for ever", "be killed", "after the load", "after resuming"}
	before := d.prompts(id)
	see("stored", slices.Equal(before, turns), before)
	d.run("", d.skein, "import")
	d.run("", d.skein, "import")
	see("stored once", slices.Equal(d.prompts(id), turns) && len(d.sessions()) == 2, d.prompts(id), d.sessions())
	return strings.Join(seen, ", ")
}

func (d *editorDesk) show(id string) string { return d.run("", d.skein, "show", id) }
func (d *editorDesk) events(id string) string {
	return d.run("", d.skein, "export", id, "--to", "skein")
}

// prompts returns what was typed in a session.
func (d *editorDesk) prompts(id string) (all []string) {
	d.Helper()
	for line := range strings.Lines(d.run("", d.skein, "show", id, "--json")) {
		var e struct{ Message skein.Message }
		if err := json.Unmarshal([]byte(line), &e); err != nil && strings.TrimSpace(line) != "" {
			d.Fatalf("show: %v\n%s", err, line)
		}
		if e.Message.Typed() {
			all = append(all, e.Message.Prompt())
		}
	}
	return all
}

// A session of each agent goes on in each other one.
func TestRealAgentsGoOnWithEachOthersSessions(t *testing.T) {
	all := editorAgents(t)
	d := newEditorDesk(t, all...)
	cwd := filepath.Join(d.home, "work")
	begun, models := map[string]string{}, map[string][]string{}
	for _, a := range all {
		c := d.connect(a.word)
		begun[a.word] = c.New(cwd)
		if how := c.prompt(begun[a.word], "begun in "+a.word); how != "end_turn" {
			t.Errorf("%s: %s", a.word, how)
		}
		c.leave()
		for _, r := range d.models[a.word].Requests() {
			models[a.word] = append(models[a.word], modelOf(&r))
		}
	}
	for _, to := range all {
		s := d.models[to.word]
		for _, from := range all {
			if from.word == to.word {
				continue
			}
			c := d.connect(to.word)
			n := len(s.Requests())
			_, err := c.open("session/load", begun[from.word], cwd)
			how := c.prompt(begun[from.word], "went on in "+to.word)
			c.leave()
			told := slices.ContainsFunc(s.Requests()[n:], func(r llmtest.Request) bool {
				return strings.Contains(string(r.Body), "begun in "+from.word)
			})
			for _, r := range s.Requests()[n:] {
				if !slices.Contains(models[to.word], modelOf(&r)) {
					t.Errorf("%s asks for the model %q when it goes on with a session of %s, else for %q", to.word, modelOf(&r), from.word, models[to.word])
				}
			}
			native := "natively"
			if c.has("could not load this session") {
				native = "as text in its prompt"
			}
			t.Logf("a session of %s in %s: %s", from.word, to.word, native)
			if err != nil || how != "end_turn" || !told || !c.has("begun in "+from.word) {
				t.Errorf("a session of %s in %s: %v, %s; its model was told: %v; shown: %v", from.word, to.word, err, how, told, c.has("begun in "+from.word))
			}
		}
	}
	d.run("", d.skein, "import")
	for _, from := range all {
		want := []string{"begun in " + from.word}
		for _, to := range all {
			if to.word != from.word {
				want = append(want, "went on in "+to.word)
			}
		}
		if got := d.prompts(begun[from.word]); !slices.Equal(got, want) {
			t.Errorf("the session of %s has the prompts %q, want %q", from.word, got, want)
		}
	}
	if got := d.sessions(); len(got) != len(all) {
		t.Errorf("%d sessions, want %d: %+v", len(got), len(all), got)
	}
}

// modelOf returns the model that a request is for.
func modelOf(r *llmtest.Request) string {
	var o struct{ Model string }
	_ = json.Unmarshal(r.Body, &o) // then it has none
	return o.Model
}

// has reports whether the agent said a line with text.
func (c *agentConnection) has(text string) bool {
	return slices.ContainsFunc(c.Lines(0), func(l []byte) bool { return strings.Contains(string(l), text) })
}
