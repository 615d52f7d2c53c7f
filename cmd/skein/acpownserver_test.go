//go:build unix

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein/llm/llmtest"
)

// The output of a command is shown as a terminal in an editor that can show one: all of
// it, once, and its end.
func TestOurOwnAgentShowsTerminals(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t, calls("c1", "shell", map[string]any{"command": "printf 'one\ntwo\n'; exit 3"}), calls("c2", "shell", map[string]any{}), llmtest.Says("Done."))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.Ask("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{"_meta": map[string]any{"terminal_output": true}}}, nil)
	id := c.New(d.work())
	c.Prompt(id, "run")
	said := c.text(0)
	for _, want := range []string{
		`"content":[{"terminalId":"c1","type":"terminal"}]`, `"terminal_info":{"cwd":"` + d.work() + `","terminal_id":"c1"}`,
		`"data":"one\ntwo\n"`, `"terminal_exit":{"exit_code":3,"signal":null,"terminal_id":"c1"}`,
		`"data":"command \"\": empty"`, `"terminal_exit":{"exit_code":null,"signal":null,"terminal_id":"c2"}`,
	} {
		if strings.Count(said, want) == 0 {
			t.Errorf("the editor was not shown %s:\n%s", want, said)
		}
	}
	if strings.Count(said, `"terminal_info"`) != 2 || strings.Contains(said, `"content":[{"content":{"text":"one`) {
		t.Errorf("the editor was shown\n%s", said)
	}
}

// An editor's servers are reached over HTTP too, with the headers that it names. One that
// does not start does not keep a session from being opened: the editor is told.
func TestOurOwnAgentReachesServers(t *testing.T) {
	d := newACPDesk(t, "")
	var keys []string
	tools := mcp.NewServer(&mcp.Implementation{Name: "far", Version: "1"}, nil)
	mcp.AddTool(tools, &mcp.Tool{Name: "look"}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		keys = append(keys, r.Extra.Header.Get("X-Key"))
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "seen from afar"}}}, nil, nil
	})
	far := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, nil))
	defer far.Close()
	s := llmtest.Anthropic(t, calls("c1", "far__look", map[string]any{}), llmtest.Says("Done."))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.Initialize()
	var r struct{ SessionID string }
	c.Ask("session/new", map[string]any{"cwd": d.work(), "mcpServers": []any{
		map[string]any{"type": "http", "name": "far", "url": far.URL, "headers": []any{map[string]any{"name": "X-Key", "value": "a$b"}}},
		map[string]any{"name": "gone", "command": filepath.Join(d.dir, "no-such-program"), "args": []string{}, "env": []any{}},
	}}, &r)
	c.AwaitLine("available_commands_update")
	c.AwaitLine("no-such-program")
	c.Prompt(r.SessionID, "look")
	if got := d.said(r.SessionID); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "seen from afar") }) || !slices.Contains(keys, "a$b") {
		t.Errorf("the server was called with the keys %q, and the store has %q", keys, got)
	}
}

// A command that prints many lines is shown as it runs, without being shown again and
// again.
func TestOurOwnAgentShowsMuchOutput(t *testing.T) {
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t, calls("c1", "shell", map[string]any{"command": "i=0; while [ $i -lt 600 ]; do i=$((i+1)); /bin/echo this is line $i; done"}), llmtest.Says("Done."))
	c := d.answers(s, "1")
	c.Permit = "once"
	c.Initialize()
	id := c.New(d.work())
	began := time.Now()
	c.Prompt(id, "run")
	said := c.text(0)
	output := 600 * len("this is line 123\n")
	// Growing output is shown a bounded number of times, and at most 8 KB of it five times a
	// second, however long a busy machine takes.
	most := 20*output + int(time.Since(began)/(200*time.Millisecond))*(9<<10)
	if len(said) > most || !strings.Contains(said, `\nthis is line 600\n`) || strings.Count(said, `"toolCallId":"c1"`) < 8 {
		t.Errorf("for %d bytes of output, the editor was sent %d bytes in %d updates", output, len(said), strings.Count(said, `"toolCallId":"c1"`))
	}
}
