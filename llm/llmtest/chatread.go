package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// chatRequest is the body of a request, as far as skein could use it.
type chatRequest struct {
	Model        string        `json:"model"`
	Messages     []chatMessage `json:"messages"`
	Stream       bool          `json:"stream"`
	MaxTokens    int           `json:"max_tokens"`
	MaxNewTokens int           `json:"max_completion_tokens"`
	Effort       string        `json:"reasoning_effort"`
	Tools        []chatTool    `json:"tools"`
	Options      struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Extra json.RawMessage `json:"extra_body"`
}

type chatTool struct {
	Type     string `json:"type"`
	Function struct {
		Name   string          `json:"name"`
		Doc    string          `json:"description"`
		Schema json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []chatCall      `json:"tool_calls"`
	CallID  string          `json:"tool_call_id"`
	Extra   json.RawMessage `json:"extra_content"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

type chatPart struct {
	Type  string  `json:"type"`
	Text  *string `json:"text"`
	Image *struct {
		URL string `json:"url"`
	} `json:"image_url"`
	Audio *struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

// readChat checks a request as the Chat Completions API does. more checks what
// a dialect adds; if it is nil, additions are not allowed.
func readChat(r *Request, more func(r *Request, q *chatRequest) error) error {
	var q chatRequest
	if unknown, err := decode(r.Body, &q); err != nil {
		if unknown != "" {
			return refuse("Unrecognized request argument supplied: %s", unknown)
		}
		return err
	}
	switch {
	case q.Model == "":
		return refuse("you must provide a model parameter")
	case strings.HasPrefix(q.Model, "no-such"):
		return &refusal{status: http.StatusNotFound, message: "The model `" + q.Model + "` does not exist or you do not have access to it."}
	case !q.Stream, !q.Options.Usage:
		return refuse("stream: this server only streams, with usage")
	case len(q.Messages) == 0:
		return refuse("Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	r.Model, r.MaxTokens, r.Effort = q.Model, max(q.MaxTokens, q.MaxNewTokens), q.Effort
	if err := q.tools(r); err != nil {
		return err
	}
	for i := range q.Messages {
		if err := q.message(r, i, more != nil); err != nil {
			return err
		}
	}
	if err := chatPairs(q.Messages); err != nil {
		return err
	}
	switch {
	case more != nil:
		return more(r, &q)
	case q.Extra != nil:
		return refuse("Unrecognized request argument supplied: extra_body")
	}
	return nil
}

func (q *chatRequest) tools(r *Request) error {
	for i, t := range q.Tools {
		f := t.Function
		switch {
		case t.Type != "function":
			return refuse("Invalid value: '%s'. Supported values are: 'function' and 'custom'.", t.Type)
		case !anthropicName.MatchString(f.Name):
			return refuse("Invalid 'tools[%d].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		case !isObject(f.Schema):
			return refuse("Invalid schema for function '%s'", f.Name)
		}
		r.Tools = append(r.Tools, llm.ToolSpec{Name: f.Name, Doc: f.Doc, Schema: f.Schema})
	}
	return nil
}

// message adds message i to the request.
func (q *chatRequest) message(r *Request, i int, extra bool) error {
	m := &q.Messages[i]
	to := skein.Message{Role: skein.Role(m.Role)}
	parts, err := m.parts(i)
	if err != nil {
		return err
	}
	switch m.Role {
	case "system":
		if i == 0 {
			r.System = string(parts[0].Text)
			return nil
		}
		to.Parts = parts
	case "user":
		to.Parts = parts
	case "tool":
		to.Parts = append(to.Parts, skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: m.CallID, Text: parts[0].Text}})
	case "assistant":
		to.Parts = parts
		if m.Extra != nil {
			to.Parts = append(to.Parts, skein.Part{Kind: skein.PartReasoning, Raw: m.Extra})
		}
		for j := range m.Calls {
			c, err := m.Calls[j].part(i, j)
			if err != nil {
				return err
			}
			if m.Calls[j].Extra != nil {
				to.Parts = append(to.Parts, skein.Part{Kind: skein.PartReasoning, Raw: m.Calls[j].Extra})
			}
			to.Parts = append(to.Parts, c)
		}
	default:
		return refuse("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role)
	}
	if len(to.Parts) == 0 {
		return refuse("Invalid value for 'content': expected a string, got null.")
	}
	if !extra && slices.ContainsFunc(to.Parts, func(p skein.Part) bool { return p.Kind == skein.PartReasoning }) {
		return refuse("Unrecognized request argument supplied: extra_content")
	}
	r.Messages = append(r.Messages, to)
	return nil
}
