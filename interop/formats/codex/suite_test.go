package codex

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/skein-dev/skein/interop/interoptest"
)

func suite() interoptest.Suite {
	return interoptest.Suite{
		Lacks:  []string{"which model answered", "a system prompt", "a change of branch", "a recorded cost", "what a cache keeps for an hour", "a service tier", "that it has no folder", "a description", "a profile", "an agent's settings", "a key", "a pin", "tags", "a status", "a request that failed", "when a tool ran", "that it was resumed", "that it ended", "a note", "reasoning", "steering", "instructions"},
		Format: Format(), Dir: "testdata", Count: countAgain,
		OneWay: []string{"packed", "rollout-2026-04-28T10-00-00-019de000-4444-7ddd-8ddd-00000000e004.jsonl"},
	}
}

func TestFormat(t *testing.T) { interoptest.Run(t, suite()) }

func FuzzImport(f *testing.F) { interoptest.Fuzz(f, suite()) }

// A counted line is the part of a line that is needed for counting.
type counted struct {
	Type       *string
	RecordType string `json:"record_type"`
	Payload    json.RawMessage
	countedItem
}

type countedItem struct {
	Type      string
	Role      string
	Name      string
	CallID    string          `json:"call_id"`
	Encrypted json.RawMessage `json:"encrypted_content"`
	Content   json.RawMessage
	Summary   json.RawMessage
	NumTurns  int `json:"num_turns"`
	Info      *struct {
		Total *struct {
			Input  int64 `json:"input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"total_token_usage"`
		Last struct {
			Output int64 `json:"output_tokens"`
		} `json:"last_token_usage"`
	}
}

// A counter counts a rollout independently of the reader.
type counter struct {
	sum   interoptest.FileTotals
	run   []string // what the model said since something else came
	model bool     // the last message is the model's
	total [2]int64
}

func countAgain(t testing.TB, path string, data []byte) interoptest.FileTotals {
	t.Helper()
	var c counter
	switch {
	case filepath.Base(path) == "session_index.jsonl":
		return c.sum
	case strings.HasSuffix(path, ".zst"):
		d, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(d); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	for _, l := range strings.Split(string(data), "\n") {
		if l = strings.TrimSpace(l); l != "" {
			c.line([]byte(l))
		}
	}
	return c.sum
}

func (c *counter) line(b []byte) {
	var l counted
	kind := ""
	if err := json.Unmarshal(b, &l); err != nil {
		c.sum.Damaged++
		return
	}
	if l.Type != nil {
		kind = *l.Type
	}
	it := l.countedItem
	switch {
	case l.Payload != nil:
		it = countedItem{}
		if err := json.Unmarshal(l.Payload, &it); err != nil {
			c.sum.Damaged++
			return
		}
	case kind == "response_item":
		c.sum.Damaged++
		return
	case kind != "":
		it.Type, kind = kind, "response_item"
	}
	switch kind {
	case "response_item":
		c.item(it)
	case "event_msg":
		c.event(it)
	case "compacted":
		c.model = false
	case "inter_agent_communication":
		c.one()
	}
}

// one counts a message that is not the model's.
func (c *counter) one() {
	c.sum.Messages++
	c.model, c.run = false, nil
}

// said counts what the model said, if that is not a further piece of its message.
func (c *counter) said(text string) {
	again := !c.model
	for _, r := range c.run {
		again = again || text != "" && strings.HasPrefix(text, r)
	}
	if again {
		c.sum.Messages++
		c.model, c.run = true, nil
	}
	if text != "" {
		c.run = append(c.run, text)
	}
}

func (c *counter) item(it countedItem) {
	switch it.Type {
	case "message":
		switch it.Role {
		case "assistant":
			c.said(strings.TrimSuffix(string(it.Content), `"}]`))
		case "user", "developer":
			c.one()
		}
	case "reasoning":
		if len(it.Summary) > len("[]") || len(it.Encrypted) > len("null") {
			c.said("reasoning: " + string(it.Summary))
		}
	case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
		c.said("")
	case "web_search_call", "image_generation_call":
		c.said("")
		c.one()
	case "function_call_output", "custom_tool_call_output", "tool_search_output", "agent_message":
		c.one()
	}
}

func (c *counter) event(it countedItem) {
	switch it.Type {
	case "task_started", "turn_aborted", "thread_rolled_back":
		c.model = false
	case "token_count":
		if it.Info == nil || it.Info.Total == nil {
			return
		}
		if now := [2]int64{it.Info.Total.Input, it.Info.Total.Output}; now != c.total {
			c.total = now
			c.sum.Output += it.Info.Last.Output
		}
	}
}
