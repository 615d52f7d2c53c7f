//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// mcpSays is what the MCP server of tests says it is.
const mcpSays = "SKEIN_TEST_MCP_SAYS"

// serveMCP is an MCP server with one tool.
func serveMCP() {
	s := mcp.NewServer(&mcp.Implementation{Name: "mine", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "whoami"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: os.Getenv(mcpSays)}}}, nil, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{}) // its input has ended
}

// answers starts skein's own agent, whose model gives these replies.
func (d *acpDesk) answers(s *llmtest.Server, dies string) *connection {
	d.Helper()
	return d.types(dies, []string{"ANTHROPIC_API_KEY=" + llmtest.Key, "ANTHROPIC_BASE_URL=" + s.URL}, "acp", "--model", "anthropic:claude-x")
}

func (d *acpDesk) work() string { return filepath.Join(d.dir, "work") }

func calls(id, name string, input map[string]any) llmtest.Reply {
	return llmtest.Calls(skein.Call{ID: id, Name: name, Input: skein.MustJSON(input)})
}

// offers begins a conversation with an editor that has files open.
func (c *connection) offers() {
	c.Ask("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"fs": map[string]any{"readTextFile": true, "writeTextFile": true}}}, nil)
}

// heard returns what the agent said since line n, one line each: kind, and what matters.
func heard(c *connection, id string, n int) (all []string) {
	for _, u := range acptest.Updates(c.Lines(n), id) {
		kind := fmt.Sprint(u.Update["sessionUpdate"])
		switch kind {
		case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
			text := acptest.Texts([]acptest.SessionUpdate{u}, kind)
			if last := len(all) - 1; last >= 0 && strings.HasPrefix(all[last], kind+" ") {
				all[last] += text
				continue
			}
			all = append(all, kind+" "+text)
		case "tool_call", "tool_call_update":
			s := fmt.Sprint(kind, " ", u.Update["toolCallId"], " ", u.Update["status"])
			if kind == "tool_call" {
				s += fmt.Sprint(" ", u.Update["kind"], " ", u.Update["title"])
			}
			all = append(all, s)
		}
	}
	return all
}

// The agent works in an editor: it streams, runs tools, asks before what may do harm, and
// reads and writes files as the editor has them. What was said is loaded by the next
// editor, as it was shown.
func TestOurOwnAgentWorksInAnEditor(t *testing.T) {
	d := newACPDesk(t, "")
	path := filepath.Join(d.work(), "a.txt")
	if err := os.WriteFile(path, []byte("what is on the disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := llmtest.Anthropic(t,
		llmtest.Thinks("Hm.", calls("c1", "read_file", map[string]any{"path": "a.txt"})),
		calls("c2", "edit_file", map[string]any{"path": "a.txt", "old_string": "the buffer", "new_string": "my hands"}),
		calls("c3", "shell", map[string]any{"command": "echo ran >> effects"}),
		llmtest.Says("All is done."),
	)
	s.Otherwise(llmtest.Says("A fine title"))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.offers()
	id := c.New(d.work())
	if stop := c.Prompt(id, "do it"); stop != "end_turn" {
		t.Errorf("the turn ended with %q", stop)
	}
	said := string(slices.Concat(c.Lines(0)...))
	for _, want := range []string{
		`"locations":[{"path":"` + path + `"}]`,
		`{"newText":"my hands","oldText":"the buffer","path":"` + path + `","type":"diff"}`,
		`"method":"fs/write_text_file","params":{"content":"what is in my hands","path":"` + path + `"`,
		`"method":"session/request_permission"`, `"kind":"allow_once"`, `"kind":"allow_always"`, `"kind":"reject_once"`,
		`"sessionUpdate":"available_commands_update"`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the agent did not say %s:\n%s", want, said)
		}
	}
	if b, err := os.ReadFile(filepath.Join(d.work(), "effects")); string(b) != "ran\n" {
		t.Errorf("the command has left %q, %v", b, err)
	}
	if b, _ := os.ReadFile(path); string(b) != "what is on the disk" {
		t.Errorf("the editor writes the file, and skein has: %q", b)
	}
	want := []string{
		"agent_thought_chunk Hm.",
		"tool_call c1 pending read read_file a.txt", "tool_call_update c1 in_progress", "tool_call_update c1 completed",
		"tool_call c2 pending edit edit_file a.txt", "tool_call_update c2 in_progress", "tool_call_update c2 completed",
		"tool_call c3 pending execute shell echo ran >> effects", "tool_call_update c3 in_progress", "tool_call_update c3 completed",
		"agent_message_chunk All is done.",
	}
	if got := heard(c, id, 0); !slices.Equal(got, want) {
		t.Errorf("the editor was shown\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	c.leave()

	c = d.answers(s, "1")
	c.Initialize()
	a := c.Ask("session/load", map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}, nil)
	want = append([]string{"user_message_chunk do it"}, slices.DeleteFunc(want, func(s string) bool { return strings.HasSuffix(s, "in_progress") })...)
	if got := heard(c, id, 0); !slices.Equal(got, want) || len(acptest.Updates(c.Lines(0)[:a.Line], id)) != len(want) {
		t.Errorf("the editor was shown again\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.Reply(llmtest.Says("Gladly."))
	if stop := c.Prompt(id, "thanks"); stop != "end_turn" {
		t.Errorf("the next turn ended with %q", stop)
	}
	var list struct {
		Sessions []struct{ SessionID, Title string }
	}
	c.Ask("session/list", map[string]any{"cwd": d.work()}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != id || list.Sessions[0].Title != "A fine title" {
		t.Errorf("the list is %v", list)
	}
	c.AwaitLine(`"sessionUpdate":"session_info_update","title":"A fine title"`)
}

// A prompt is on disk before the model sees it, and the turn before the editor sees its
// end: wherever skein dies, what it acknowledged is stored, and the session is opened
// again.
func TestOurOwnAgentDiesAtEveryAppend(t *testing.T) {
	d := newACPDesk(t, "")
	for n, lived := 1, false; !lived; n++ {
		for _, when := range []string{"before", "after"} {
			s := llmtest.Anthropic(t, calls("c1", "list_files", map[string]any{"path": "."}), llmtest.Says("Done."))
			c := d.answers(s, fmt.Sprint(when, " ", n))
			c.Initialize()
			a, ok := c.Await(c.Send("session/new", map[string]any{"cwd": d.work(), "mcpServers": []any{}}))
			if !ok {
				continue // nothing was acknowledged
			}
			var r struct{ SessionID string }
			if err := json.Unmarshal(a.Result, &r); err != nil {
				t.Fatal(err)
			}
			_, lived = c.Await(c.Send("session/prompt", acptest.PromptOf(r.SessionID, "look")))
			c.leave()
			got := d.said(r.SessionID)
			if len(s.Requests()) > 0 && (len(got) == 0 || got[0] != "user: look") {
				t.Errorf("%s %d: the model was asked, and the store has %q", when, n, got)
			}
			if lived && (len(got) != 4 || got[3] != "assistant: Done.") {
				t.Errorf("%s %d: the turn was answered, and the store has %q", when, n, got)
			}
			s.Otherwise(llmtest.Says("Back again."))
			c = d.answers(s, "1")
			c.Initialize()
			c.Ask("session/load", map[string]any{"sessionId": r.SessionID, "cwd": d.work(), "mcpServers": []any{}}, nil)
			if stop := c.Prompt(r.SessionID, "go on"); stop != "end_turn" {
				t.Errorf("%s %d: the next turn ended with %q", when, n, stop)
			}
			c.leave()
		}
	}
}

// A turn is canceled while the model answers and while a person is asked.
func TestOurOwnAgentIsCanceled(t *testing.T) {
	d := newACPDesk(t, "")
	hold := make(chan struct{})
	defer close(hold)
	s := llmtest.Anthropic(t, llmtest.Holds(llmtest.Says(strings.Repeat("word ", 500)), 2000, hold), calls("c1", "shell", map[string]any{"command": "true"}), llmtest.Says("Fine."))
	s.Otherwise(llmtest.Says("A fine title"))
	c := d.answers(s, "1")
	c.Permit = "nobody"
	c.Initialize()
	id := c.New(d.work())
	cancel := func(sent, at string) {
		t.Helper()
		c.AwaitLine(at)
		c.Cancel(id)
		if a, _ := c.Await(sent); !strings.Contains(string(a.Result), `"stopReason":"cancelled"`) {
			t.Errorf("the turn was answered %s %v", a.Result, a.Error)
		}
	}
	cancel(c.Send("session/prompt", acptest.PromptOf(id, "one")), "word")
	// an answer "no option" leaves nothing allowed
	if stop := c.Prompt(id, "two"); stop != "end_turn" {
		t.Errorf("the turn ended with %q", stop)
	}
	if got := d.said(id); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "was not allowed") }) {
		t.Errorf("the store has %q", got)
	}
}

// A person who allows a tool for good is not asked again in this project, not by another
// program either; in the mode auto nobody is asked, and in the mode plan there are no
// tools that change something.
func TestOurOwnAgentAsksAsTheRulesSay(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t)
	run := func(permit, mode string) (asked int, result string) {
		t.Helper()
		s.Reply(calls("c1", "shell", map[string]any{"command": "echo it ran"}), llmtest.Says("Done."))
		c := d.answers(s, "1")
		c.Permit = permit
		c.Initialize()
		id := c.New(d.work())
		if mode != "" {
			c.Ask("session/set_mode", map[string]any{"sessionId": id, "modeId": mode}, nil)
		}
		c.Prompt(id, "go")
		c.leave()
		said := d.said(id)
		return strings.Count(string(slices.Concat(c.Lines(0)...)), `"session/request_permission"`), said[2]
	}
	for _, is := range []struct {
		permit, mode string
		asked        int
		result       string
	}{
		{"no", "", 1, "was not allowed"},
		{"no", "auto", 0, "it ran"},
		{"no", "plan", 0, "No tool"},
		{"always", "", 1, "it ran"},
		{"no", "", 0, "it ran"},
	} {
		if asked, result := run(is.permit, is.mode); asked != is.asked || !strings.Contains(result, is.result) {
			t.Errorf("%q in mode %q: it asked %d times and got %q", is.permit, is.mode, asked, result)
		}
	}
}

// What a person shows the agent reaches the model: images as such, embedded files with
// their text, files that are only named with their path. Servers that the editor brings
// have their tools there, and what is passed to them is taken as it is.
func TestOurOwnAgentIsShownThings(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t, calls("c1", "mine__whoami", map[string]any{}), llmtest.Says("I see."))
	s.Otherwise(llmtest.Says("A fine title"))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.Initialize()
	var r struct{ SessionID string }
	server := map[string]any{
		"name": "mine", "command": d.self(), "args": []string{},
		"env": []any{map[string]any{"name": asProgram, "value": "mcp"}, map[string]any{"name": mcpSays, "value": "$HOME is ${NOT} a variable"}},
	}
	c.Ask("session/new", map[string]any{"cwd": d.work(), "mcpServers": []any{server}}, &r)
	prompt := acptest.PromptOf(r.SessionID, "look")
	prompt["prompt"] = append(prompt["prompt"].([]any),
		map[string]any{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///x/a.go", "mimeType": "text/plain", "text": "package a"}},
		map[string]any{"type": "resource_link", "uri": "file:///x/b.png", "name": "b.png", "mimeType": "image/png"},
	)
	c.Ask("session/prompt", prompt, nil)
	var shown []string
	for _, p := range s.Requests()[0].Messages[0].Parts {
		if p.File != nil {
			shown = append(shown, p.File.Media)
		} else {
			shown = append(shown, string(p.Text))
		}
	}
	all := strings.Join(shown, "\n")
	for _, want := range []string{"look\n", "\nimage/png\n", "\n<file \"/x/a.go\">\npackage a\n</file>", "<file \"/x/b.png\" />"} {
		if strings.Count(all, want) != 1 {
			t.Errorf("the model was not shown %q once:\n%s", want, all)
		}
	}
	if got := d.said(r.SessionID); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "$HOME is ${NOT} a variable") }) {
		t.Errorf("the store has %q", got)
	}
}

// One editor writes to a session; another is told who has it, and may take over.
func TestTwoEditorsOnOneSession(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("Yes."))
	one := d.answers(s, "1")
	one.Initialize()
	id := one.New(d.work())
	one.Prompt(id, "mine")
	two := d.answers(s, "1")
	two.Initialize()
	load := map[string]any{"sessionId": id, "cwd": d.work(), "mcpServers": []any{}}
	a, _ := two.Await(two.Send("session/load", load))
	if a.Error == nil || !strings.Contains(a.Error.Message, "locked by PID") || !strings.Contains(a.Error.Message, "skein acp") {
		t.Fatalf("the second editor is told %s %v", a.Result, a.Error)
	}
	load["_meta"] = map[string]any{"skein": map[string]any{"takeOver": true}}
	two.Ask("session/load", load, nil)
	if a, _ := one.Await(one.Send("session/prompt", acptest.PromptOf(id, "still mine?"))); a.Error == nil || !strings.Contains(a.Error.Message, "took this session over") {
		t.Errorf("the first editor is told %s %v", a.Result, a.Error)
	}
	if stop := two.Prompt(id, "mine now"); stop != "end_turn" {
		t.Errorf("the turn ended with %q", stop)
	}
}
