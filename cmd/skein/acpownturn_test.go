//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// sends sends a prompt, and returns the request's ID.
func (c *connection) sends(id, text string) string {
	return c.Send("session/prompt", acptest.PromptOf(id, text))
}

// stops waits for the answer to a prompt, and checks that it was canceled.
func (c *connection) stops(t *testing.T, sent string) {
	t.Helper()
	if a, ok := c.Await(sent); !ok || !strings.Contains(string(a.Result), `"stopReason":"cancelled"`) {
		t.Errorf("the turn was answered %s %v", a.Result, a.Error)
	}
}

func (c *connection) cancel(id string) {
	c.Cancel(id)
}

// said returns all lines since line n.
func (c *connection) text(n int) string { return string(slices.Concat(c.Lines(n)...)) }

// A turn is canceled while a tool runs, while a person is asked, and before it began: the
// tool ends, the call is shown as failed, nothing is asked any more, and the next turn is
// a usual one.
func TestOurOwnAgentIsCanceledAtAnyMoment(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("A fine title"))
	c := d.answers(s, "1")
	c.Initialize()
	id := c.New(d.work())
	next := func() {
		t.Helper()
		s.Reply(llmtest.Says("Still here."))
		if stop := c.Prompt(id, "and now?"); stop != "end_turn" {
			t.Errorf("the next turn ended with %q", stop)
		}
	}

	c.Permit = "once"
	s.Reply(calls("tool", "shell", map[string]any{"command": "echo begun; exec sleep 1000"}))
	sent := c.sends(id, "in a tool")
	c.AwaitLine(`begun\n`)
	queued := c.sends(id, "before it begins")
	c.cancel(id)
	c.stops(t, sent)
	c.stops(t, queued)
	if got := heard(c, id, 0); !slices.Contains(got, "tool_call_update tool failed") {
		t.Errorf("the editor was shown %q", got)
	}
	next()

	c.Permit = "-"
	s.Reply(calls("asks", "shell", map[string]any{"command": "touch made"}))
	n := len(c.Lines(0))
	sent = c.sends(id, "in a question")
	c.AwaitLine(`"toolCallId":"asks"}`)
	c.cancel(id)
	c.stops(t, sent)
	if got := heard(c, id, n); !slices.Contains(got, "tool_call_update asks failed") {
		t.Errorf("the editor was shown %q", got)
	}
	next()

	c.Permit = "cancelled"
	s.Reply(calls("again", "shell", map[string]any{"command": "touch made"}))
	c.stops(t, c.sends(id, "the question is canceled"))
	next()

	c.Permit = "-"
	s.Reply(calls("third", "shell", map[string]any{"command": "touch made"}))
	sent = c.sends(id, "the request is canceled")
	c.AwaitLine(`"toolCallId":"third"}`)
	c.Write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + sent + `}}`)
	c.stops(t, sent)
	next()

	if _, err := os.Stat(filepath.Join(d.work(), "made")); err == nil {
		t.Error("a command ran that nobody allowed")
	}
	if strings.Contains(strings.Join(d.said(id), "\n"), "before it begins") {
		t.Error("the store has a prompt that was canceled before it began")
	}
}

// A person who no longer wants to be asked is not, from the next call on; closing or
// deleting a session ends its turn.
func TestOurOwnAgentListensDuringATurn(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t)
	c := d.answers(s, "1")
	c.Initialize()
	id := c.New(d.work())
	c.Permit = "-"
	hold := make(chan struct{})
	s.Reply(calls("c1", "shell", map[string]any{"command": "true"}), llmtest.Holds(calls("c2", "shell", map[string]any{"command": "echo twice"}), 10, hold), llmtest.Says("Done."))
	sent := c.sends(id, "go")
	c.AwaitLine(`"session/request_permission"`)
	c.Ask("session/set_mode", map[string]any{"sessionId": id, "modeId": "auto"}, nil)
	var asked struct{ ID json.RawMessage }
	for _, l := range c.Lines(0) {
		if strings.Contains(string(l), `"session/request_permission"`) {
			if err := json.Unmarshal(l, &asked); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.Write(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}`)
	close(hold)
	if a, _ := c.Await(sent); !strings.Contains(string(a.Result), "end_turn") {
		t.Errorf("the turn was answered %s %v", a.Result, a.Error)
	}
	if n := strings.Count(c.text(0), `"session/request_permission"`); n != 1 {
		t.Errorf("the person was asked %d times, want once", n)
	}
	for _, method := range []string{"session/close", "session/delete"} {
		s.Reply(calls("c3", "shell", map[string]any{"command": "echo begun; exec sleep 1000"}))
		n := len(c.Lines(0))
		c.Ask("session/resume", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}, nil)
		c.Ask("session/set_mode", map[string]any{"sessionId": id, "modeId": "auto"}, nil)
		sent := c.sends(id, "work")
		for !strings.Contains(c.text(n), "begun\\n") {
			c.AwaitMore(len(c.Lines(0)))
		}
		c.Ask(method, map[string]any{"sessionId": id}, nil)
		c.stops(t, sent)
	}
	if a, _ := c.Await(c.Send("session/load", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}})); a.Error == nil || !strings.Contains(a.Error.Message, "skein restore") {
		t.Errorf("the deleted session was loaded: %s", a.Result)
	}
}

// What a person chooses reaches the model, and is shown; commands are not sent to it.
func TestOurOwnAgentTakesFilesBackOnlyIfAllowed(t *testing.T) {
	d := newACPDesk(t, "")
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", d.work(), "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgSign=false"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	path := filepath.Join(d.work(), "a.txt")
	is := func(want string) {
		t.Helper()
		if b, err := os.ReadFile(path); string(b) != want {
			t.Errorf("the file has %q, %v; want %q", b, err, want)
		}
	}
	if err := os.WriteFile(path, []byte("as it was\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	git("add", "a.txt")
	git("commit", "-q", "-m", "Begin")
	s := llmtest.Anthropic(t, calls("c1", "edit_file", map[string]any{"path": "a.txt", "old_string": "was", "new_string": "is"}), llmtest.Says("Done."))
	s.Otherwise(llmtest.Says("A fine title"))
	c := d.answers(s, "1")
	c.Initialize()
	c.Permit = "once"
	id := c.New(d.work())
	c.Prompt(id, "change it")
	is("as it is\n")
	for _, try := range []struct{ permit, want, file string }{
		{"no", "Nothing was taken back.", "as it is\n"},
		{"once", "You had said:\\n\\nchange it", "as it was\n"},
	} {
		c.Permit = try.permit
		n := len(c.Lines(0))
		if stop := c.Prompt(id, "/undo --files"); stop != "end_turn" || !strings.Contains(c.text(n), try.want) {
			t.Errorf("/undo --files, with %q: %s, and\n%s", try.permit, stop, c.text(n))
		}
		if !strings.Contains(c.text(n), `"session/request_permission"`) || !strings.Contains(c.text(n), `a.txt`) {
			t.Errorf("the editor was not asked:\n%s", c.text(n))
		}
		is(try.file)
	}
	c.leave()
}

func TestOurOwnAgentIsSteered(t *testing.T) {
	d := newACPDesk(t, "")
	agents := filepath.Join(d.work(), ".skein", "agents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(agents, "poet.md"), []byte("---\nname: poet\ndescription: writes verses\n---\nYou rhyme."), 0o600); err != nil {
		t.Fatal(err)
	}
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("Yes."))
	c := d.answers(s, "1")
	c.Initialize()
	id := c.New(d.work())
	choose := func(option, value string) {
		t.Helper()
		var r struct {
			ConfigOptions []struct{ ID, CurrentValue string }
		}
		c.Ask("session/set_config_option", map[string]any{"sessionId": id, "configId": option, "value": value}, &r)
		if !slices.ContainsFunc(r.ConfigOptions, func(o struct{ ID, CurrentValue string }) bool { return o.ID == option && o.CurrentValue == value }) {
			t.Errorf("after %s = %s, the options are %v", option, value, r.ConfigOptions)
		}
	}
	choose("effort", "high")
	choose("agent", "poet")
	c.Prompt(id, "first")
	c.Prompt(id, "second")
	r := s.Requests()[0]
	if r.System == "" || !strings.Contains(r.System, "You rhyme.") {
		t.Errorf("the model was told %q", r.System)
	}
	if r.Effort == "" {
		t.Errorf("the model was asked without an effort")
	}
	type turn struct{ says, want string }
	for _, is := range []turn{
		{"/context", "agent: poet"},
		{"/tools", "shell"},
		{"/model", "claude-x answers"},
		{"/rename  A   better title", `now \"A better title\"`},
		{"/undo", "You had said:\\n\\nsecond"},
		{"/redo", "Brought back"},
		{"/undo x", "want how many turns"},
		{"/clear", "no longer sees"},
		{"/redo", "Brought back"},
		{"/agent default", "answers from now on"},
		{"/agent nobody", "the editor's options list the agents"},
		{"/model anthropic:claude-y", "claude-y answers from now on"},
		{"/context more", "takes no"},
	} {
		n, asked := len(c.Lines(0)), len(s.Requests())
		if stop := c.Prompt(id, is.says); stop != "end_turn" || !strings.Contains(c.text(n), is.want) {
			t.Errorf("%s: %s, and\n%s", is.says, stop, c.text(n))
		}
		if len(s.Requests()) != asked {
			t.Errorf("%s reached the model", is.says)
		}
	}
	c.AwaitLine(`"title":"A better title"`)
	asked := len(s.Requests())
	c.Prompt(id, "/compact")
	if got := s.Requests(); len(got) == asked {
		t.Error("/compact did not ask the model for a summary")
	}
	c.Prompt(id, "/usr/bin/env says what?")
	got := s.Requests()
	if last := got[len(got)-1]; last.Model != "claude-y" {
		t.Errorf("%q answered", last.Model)
	}
	if said := d.said(id); !slices.Contains(said, "user: /usr/bin/env says what?") || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "/rename") }) {
		t.Errorf("the store has %q", said)
	}
	c.leave()

	c = d.answers(s, "1")
	c.Initialize()
	var opened struct {
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	c.Ask("session/resume", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}, &opened)
	for _, o := range opened.ConfigOptions {
		if o.ID == "model" && o.CurrentValue != "anthropic:claude-y" {
			t.Errorf("the next editor has the model %q", o.CurrentValue)
		}
	}
	var fork struct{ SessionID skein.SessionID }
	c.Ask("session/fork", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}, &fork)
	c.Ask("session/load", map[string]any{"sessionId": fork.SessionID, "cwd": d.work(), "mcpServers": []any{}}, nil)
	if got := heard(c, string(fork.SessionID), 0); len(got) < 4 || got[0] != "user_message_chunk first" {
		t.Errorf("the fork shows %q", got)
	}
}

// A session that another agent recorded goes on here, with what was said in it. An editor
// need not wait for the answer to load before it says something, and may load twice.
func TestOurOwnAgentGoesOnWithAnothersSession(t *testing.T) {
	d := newACPDesk(t, "")
	other := d.start("1")
	other.Initialize()
	id := other.New(d.work())
	other.Prompt(id, "say the word is heron")
	other.leave()

	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("It was heron."))
	c := d.answers(s, "1")
	c.Initialize()
	open := map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}
	first, second := c.Send("session/load", open), c.Send("session/load", open)
	sent := c.sends(id, "which word?")
	for _, asked := range []string{first, second, sent} {
		if a, ok := c.Await(asked); !ok || a.Error != nil {
			t.Fatalf("the agent answered %v", a.Error)
		}
	}
	if got := heard(c, id, 0); !slices.Contains(got, "agent_message_chunk the word is heron") {
		t.Errorf("the editor was shown %q", got)
	}
	told := s.Requests()[0].Messages
	if len(told) != 3 || told[1].Words() != "the word is heron" {
		t.Errorf("the model was told %v", told)
	}
	var list struct {
		Sessions []struct{ SessionID, Title string }
	}
	c.Ask("session/list", map[string]any{"cwd": d.work()}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != id {
		t.Errorf("the list is %v", list)
	}
}

// A person is asked about what a subagent wants to run, and sees what that is.
func TestOurOwnAgentAsksForItsSubagents(t *testing.T) {
	d := newACPDesk(t, "")
	agents := filepath.Join(d.work(), ".skein", "agents")
	if err := os.MkdirAll(agents, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"boss.md": "---\nname: boss\ndescription: leads\nsubagents: [hand]\ntools: []\n---\nLead.",
		"hand.md": "---\nname: hand\ndescription: works\ntools: [shell]\n---\nWork.",
	} {
		if err := os.WriteFile(filepath.Join(agents, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := llmtest.Anthropic(t, calls("c1", "delegate", map[string]any{"agent": "hand", "task": "run it"}), calls("h1", "shell", map[string]any{"command": "echo by hand"}), llmtest.Says("The hand is done."), llmtest.Says("All is done."))
	s.Otherwise(llmtest.Says("A fine title"))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.Initialize()
	id := c.New(d.work())
	c.Ask("session/set_config_option", map[string]any{"sessionId": id, "configId": "agent", "value": "boss"}, nil)
	if stop := c.Prompt(id, "go"); stop != "end_turn" {
		t.Errorf("the turn ended with %q", stop)
	}
	said := c.text(0)
	if !strings.Contains(said, `"title":"shell echo by hand"`) || !strings.Contains(said, `"toolCallId":"h1"`) {
		t.Errorf("the editor was told\n%s", said)
	}
	if got := heard(c, id, 0); !slices.Contains(got, "tool_call_update c1 completed") || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, " h1 ") }) {
		t.Errorf("the editor was shown %q", got)
	}
}

// A skein that was killed while a tool ran is started again: the editor is shown that the
// call has ended, and the next turn is a usual one.
func TestOurOwnAgentIsKilledInATool(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t, calls("c1", "shell", map[string]any{"command": "echo begun; exec sleep 1000"}))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.Initialize()
	id := c.New(d.work())
	c.sends(id, "work")
	c.AwaitLine(`begun\n`)
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.leave()

	s.Otherwise(llmtest.Says("Back again."))
	c = d.answers(s, "1")
	c.Initialize()
	c.Ask("session/load", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}, nil)
	if got := heard(c, id, 0); len(got) != 3 || got[2] != "tool_call_update c1 failed" {
		t.Errorf("the editor was shown %q", got)
	}
	if stop := c.Prompt(id, "go on"); stop != "end_turn" {
		t.Errorf("the turn ended with %q", stop)
	}
}
