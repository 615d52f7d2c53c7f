//go:build unix && programs

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/server/acp/acptest"
)

// schemaOfACP returns the protocol's schema, and a seed for messages made of it.
func schemaOfACP(t *testing.T) (*acptest.MessageSchema, uint64) {
	t.Helper()
	schema := acptest.ReadSchema(t)
	if schema == nil {
		t.Fatal(acptest.SchemaVariable + " is not set: scripts/acp FOLDER installs the schema there")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return schema, seed
}

// Skein's own agent answers every message of the protocol, valid or broken, once, with
// what the protocol allows, and works on after it.
func TestACPOwnAgentTakesEveryMessage(t *testing.T) {
	schema, seed := schemaOfACP(t)
	d := newACPDesk(t, "")
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("A word."))
	c := d.answers(s, "1")
	c.offers()
	id := c.New(d.work())
	other := c.New(d.work())
	g := schema.Generate(seed, map[string][]string{
		"sessionId": {id, id, other, "no-such-session"}, "cwd": {d.work(), "/no/such/folder"}, "modeId": {"ask", "auto", "plan"},
		"configId": {"mode", "model", "effort", "agent"}, "value": {"plan", "high", "anthropic:claude-x"}, "type": {"stdio"},
		"command": {"/no/such/program"}, "url": {"http://127.0.0.1:1/mcp"}, "optionId": {"once", "no"},
	})
	c.Reply = g.Answer
	var asked []string
	for n := range 40 * g.Methods() {
		request := fmt.Sprint("fuzz-", n)
		line, method := g.Message(n, request)
		if method == "session/prompt" {
			s.Reply(calls("c1", "read_file", map[string]any{"path": "a.txt"}), calls("c2", "write_file", map[string]any{"path": "a.txt", "content": "x"}), calls("c3", "shell", map[string]any{"command": "true"}))
		}
		if method == "" {
			c.Write(line)
			continue
		}
		quoted := string(mustJSON(request))
		c.SendAs(quoted, method, line)
		asked = append(asked, quoted)
		if _, ok := c.Await(quoted); !ok {
			t.Fatalf("the agent ended at %s", line)
		}
	}
	c.Reply = nil
	times := map[string]int{}
	for _, l := range c.Lines(0) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal(l, &m); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if m.Method == "" {
			times[string(m.ID)]++
		}
	}
	for _, a := range asked {
		if times[a] != 1 {
			t.Errorf("request %s was answered %d times", a, times[a])
		}
	}
	last := c.New(d.work())
	c.Permit = "no"
	for stop := ""; stop != "end_turn"; { // what the model was to say to prompts that were refused is said now
		if stop = c.Prompt(last, "still here?"); stop != "end_turn" && stop != "max_turn_requests" {
			t.Fatalf("the last turn ended with %q", stop)
		}
	}
	c.leave()
	if !slices.ContainsFunc(c.Lines(0), func(l []byte) bool { return strings.Contains(string(l), "A word.") }) {
		t.Error("the model never answered")
	}
}

// Skein between an editor and an agent takes every message of the protocol, valid or broken,
// and works on after it.
func TestACPRelayTakesEveryMessage(t *testing.T) {
	schema, seed := schemaOfACP(t)
	d := newACPDesk(t, "load fork resume close")
	c := d.start("1")
	c.Initialize()
	id := c.New(d.work())
	g := schema.Generate(seed, map[string][]string{"sessionId": {id, "no-such-session"}, "cwd": {d.work(), "/no/such/folder"}, "text": {"say yes", "permit rm", "read /x", "tool ls"}})
	c.Reply = g.Answer
	for n := range 40 * g.Methods() {
		line, method := g.Message(n, fmt.Sprint("fuzz-", n))
		if method == "" {
			c.Write(line)
			continue
		}
		c.SendAs(string(mustJSON(fmt.Sprint("fuzz-", n))), method, line) // the agent may never answer what is broken
	}
	c.Reply = nil
	if stop := c.Prompt(c.New(d.work()), "say still here"); stop != "end_turn" {
		t.Errorf("the last turn ended with %q", stop)
	}
	c.leave()
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
