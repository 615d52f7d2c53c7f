package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// anthropicRequest is the body of a request, as far as skein could use it.
type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens *int               `json:"max_tokens"`
	Stream    bool               `json:"stream"`
	System    []anthropicContent `json:"system"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []anthropicTool    `json:"tools"`
	Thinking  *anthropicThinking `json:"thinking"`
	Output    struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
}

type anthropicThinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens"`
	Display string `json:"display"`
}

type anthropicTool struct {
	Name   string          `json:"name"`
	Doc    string          `json:"description"`
	Schema json.RawMessage `json:"input_schema"`
	Cache  *anthropicCache `json:"cache_control"`
}

type anthropicCache struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type anthropicMessage struct {
	Role    string             `json:"role"`
	Content []anthropicContent `json:"content"`
}

// anthropicContent is a content block of any type.
type anthropicContent struct {
	Type      string             `json:"type"`
	Text      *string            `json:"text"`
	Thinking  string             `json:"thinking"`
	Signature string             `json:"signature"`
	Data      string             `json:"data"`
	ID        string             `json:"id"`
	Name      string             `json:"name"`
	Input     json.RawMessage    `json:"input"`
	ToolUseID string             `json:"tool_use_id"`
	IsError   bool               `json:"is_error"`
	Content   []anthropicContent `json:"content"`
	Cache     *anthropicCache    `json:"cache_control"`
	Source    *struct {
		Type  string `json:"type"`
		Media string `json:"media_type"`
		Data  string `json:"data"`
		URL   string `json:"url"`
	} `json:"source"`
}

var anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// readAnthropic checks a request as the Messages API does.
func readAnthropic(r *Request) error {
	if r.Header.Get("Anthropic-Version") == "" {
		return refuse("anthropic-version: header is required")
	}
	var q anthropicRequest
	if unknown, err := decode(r.Body, &q); err != nil {
		if unknown != "" {
			return refuse("%s: Extra inputs are not permitted", unknown)
		}
		return err
	}
	switch {
	case q.Model == "":
		return refuse("model: Field required")
	case strings.HasPrefix(q.Model, "no-such"):
		return &refusal{status: http.StatusNotFound, message: "model: " + q.Model}
	case q.MaxTokens == nil:
		return refuse("max_tokens: Field required")
	case *q.MaxTokens < 1:
		return refuse("max_tokens: Input should be greater than or equal to 1")
	case !q.Stream:
		return refuse("stream: this server only streams")
	case len(q.Messages) == 0:
		return refuse("messages: at least one message is required")
	case q.Messages[0].Role != "user":
		return refuse(`messages: first message must use the "user" role`)
	}
	r.Model, r.MaxTokens = q.Model, *q.MaxTokens
	if err := q.thinking(r); err != nil {
		return err
	}
	if err := q.above(r); err != nil {
		return err
	}
	return q.messages(r)
}

func (q *anthropicRequest) thinking(r *Request) error {
	r.Effort = q.Output.Effort
	switch t := q.Thinking; {
	case t == nil, t.Type == "adaptive", t.Type == "disabled":
		return nil
	case t.Type != "enabled":
		return refuse("thinking: Input tag '%s' found using 'type' does not match any of the expected tags", t.Type)
	case t.Budget < 1024:
		return refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case t.Budget >= *q.MaxTokens:
		return refuse("`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	r.Effort = fmt.Sprint(q.Thinking.Budget)
	return nil
}

// above checks the fields other than the messages.
func (q *anthropicRequest) above(r *Request) error {
	var system []string
	for i, b := range q.System {
		if b.Type != "text" || b.Text == nil || blank(*b.Text) {
			return refuse("system.%d: text content blocks must be non-empty", i)
		}
		system = append(system, *b.Text)
		r.mark(b.Cache)
	}
	r.System = strings.Join(system, "\n\n")
	for i, t := range q.Tools {
		var schema struct{ Type string }
		switch {
		case !anthropicName.MatchString(t.Name):
			return refuse("tools.%d.custom.name: String should match pattern '%s'", i, anthropicName)
		case slices.ContainsFunc(r.Tools, func(s llm.ToolSpec) bool { return s.Name == t.Name }):
			return refuse("tools: Tool names must be unique.")
		case json.Unmarshal(t.Schema, &schema) != nil || schema.Type != "object":
			return refuse("tools.%d.custom.input_schema.type: Field required", i)
		}
		r.Tools = append(r.Tools, llm.ToolSpec{Name: t.Name, Doc: t.Doc, Schema: t.Schema})
		r.mark(t.Cache)
	}
	return nil
}

func (r *Request) mark(c *anthropicCache) {
	if c != nil {
		r.Marks++
	}
}

func (q *anthropicRequest) messages(r *Request) error {
	for i, m := range q.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return refuse("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i > 0 && q.Messages[i-1].Role == m.Role:
			return refuse(`messages: roles must alternate between "user" and "assistant", but found multiple %q roles in a row`, m.Role)
		case len(m.Content) == 0:
			return refuse("messages.%d: all messages must have non-empty content", i)
		}
		to := skein.Message{Role: skein.Role(m.Role)}
		for j := range m.Content {
			p, err := m.Content[j].part(fmt.Sprintf("messages.%d.content.%d", i, j), m.Role)
			if err != nil {
				return err
			}
			to.Parts = append(to.Parts, p)
			r.mark(m.Content[j].Cache)
		}
		r.Messages = append(r.Messages, to)
		if err := anthropicPairs(r.Messages, i); err != nil {
			return err
		}
	}
	if r.Marks > 4 {
		return refuse("A maximum of 4 blocks with cache_control may be provided. Found %d.", r.Marks)
	}
	return anthropicEnd(r.Messages)
}

// anthropicPairs checks that calls and results match up to message i.
func anthropicPairs(all []skein.Message, i int) error {
	open := map[string]bool{}
	if i > 0 {
		for _, p := range all[i-1].Parts {
			if p.Call != nil {
				open[p.Call.ID] = true
			}
		}
	}
	for j, p := range all[i].Parts {
		switch {
		case p.Result == nil:
		case !open[p.Result.CallID]:
			return refuse("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, p.Result.CallID)
		case j > 0 && all[i].Parts[j-1].Result == nil:
			return refuse("messages.%d: `tool_result` blocks must come first in the content", i)
		default:
			delete(open, p.Result.CallID)
		}
	}
	for id := range open {
		return refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, id)
	}
	return nil
}

func anthropicEnd(all []skein.Message) error {
	last := &all[len(all)-1]
	used := map[string]bool{}
	for i, m := range all {
		for _, p := range m.Parts {
			if p.Call == nil {
				continue
			}
			if used[p.Call.ID] {
				return refuse("messages.%d: `tool_use` ids must be unique", i)
			}
			used[p.Call.ID] = true
		}
		end := m.Parts[len(m.Parts)-1]
		if end.Kind == skein.PartReasoning {
			return refuse("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
		}
	}
	if last.Role != skein.RoleAssistant {
		return nil
	}
	end := last.Parts[len(last.Parts)-1]
	switch {
	case end.Call != nil:
		return refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", len(all)-1, end.Call.ID)
	case strings.TrimRightFunc(string(end.Text), unicode.IsSpace) != string(end.Text):
		return refuse("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}
