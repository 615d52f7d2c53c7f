package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// responsesRequest is the body of a request, as far as skein could use it.
type responsesRequest struct {
	Model     string            `json:"model"`
	System    string            `json:"instructions"`
	Input     []json.RawMessage `json:"input"`
	Stream    bool              `json:"stream"`
	Store     *bool             `json:"store"`
	Include   []string          `json:"include"`
	MaxTokens *int              `json:"max_output_tokens"`
	Tools     []responsesTool   `json:"tools"`
	Reasoning struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`
}

type responsesTool struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Doc    string          `json:"description"`
	Schema json.RawMessage `json:"parameters"`
	Strict *bool           `json:"strict"`
}

// responsesItem is an input item of any type.
type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Encrypted string          `json:"encrypted_content"`
	Summary   *[]struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"summary"`
}

type responsesContent struct {
	Type   string  `json:"type"`
	Text   *string `json:"text"`
	Image  string  `json:"image_url"`
	Detail string  `json:"detail"`
	File   string  `json:"file_data"`
	URL    string  `json:"file_url"`
	Name   string  `json:"filename"`
}

// readResponses checks a request as the Responses API does.
func readResponses(r *Request) error {
	var q responsesRequest
	if unknown, err := decode(r.Body, &q); err != nil {
		if unknown != "" {
			return refuse("Unknown parameter: '%s'.", unknown)
		}
		return err
	}
	switch {
	case q.Model == "":
		return refuse("Missing required parameter: 'model'.")
	case strings.HasPrefix(q.Model, "no-such"):
		return &refusal{status: http.StatusNotFound, message: "The requested model '" + q.Model + "' does not exist."}
	case !q.Stream:
		return refuse("stream: this server only streams")
	case q.Store == nil || *q.Store:
		return refuse("store: this server keeps nothing")
	case strings.HasPrefix(q.Model, "gpt-4") && len(q.Include) > 0:
		return refuse("Encrypted content is not supported with this model.")
	case strings.HasPrefix(q.Model, "gpt-4") && q.Reasoning.Effort != "":
		return refuse("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
	case !strings.HasPrefix(q.Model, "gpt-4") && !slices.Contains(q.Include, "reasoning.encrypted_content"):
		return refuse("include: what is not kept must be encrypted")
	case len(q.Input) == 0:
		return refuse("One of 'input' or 'previous_response_id' or 'prompt' or 'conversation_id' must be provided.")
	case q.MaxTokens != nil && *q.MaxTokens < 16:
		return refuse("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", *q.MaxTokens)
	}
	r.Model, r.System, r.Effort = q.Model, q.System, q.Reasoning.Effort
	if q.MaxTokens != nil {
		r.MaxTokens = *q.MaxTokens
	}
	for i, t := range q.Tools {
		switch {
		case t.Type != "function":
			return refuse("Invalid value: '%s'.", t.Type)
		case !anthropicName.MatchString(t.Name):
			return refuse("Invalid 'tools[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		case !isObject(t.Schema) || t.Strict == nil || *t.Strict:
			return refuse("Invalid schema for function '%s'", t.Name)
		}
		r.Tools = append(r.Tools, llm.ToolSpec{Name: t.Name, Doc: t.Doc, Schema: t.Schema})
	}
	return q.items(r)
}

// items reads the input, and checks that calls, results and reasoning match.
func (q *responsesRequest) items(r *Request) error {
	var open []string // calls without a result
	thought := ""     // ID of reasoning that has no follower yet
	for i, raw := range q.Input {
		var it responsesItem
		if unknown, err := decode(raw, &it); err != nil {
			if unknown != "" {
				return refuse("Unknown parameter: 'input[%d].%s'.", i, unknown)
			}
			return refuse("Invalid 'input[%d]': %v", i, err)
		}
		if thought != "" && it.Type != "reasoning" && it.Type != "function_call" && it.Role != "assistant" {
			break
		}
		if it.Type != "reasoning" {
			thought = ""
		}
		switch it.Type {
		case "compaction":
			if it.Encrypted != sign("compacted") {
				return refuse("The encrypted content could not be verified.")
			}
			r.Opaque = append(r.Opaque, raw)
			continue
		case "reasoning":
			thought = it.ID
		case "function_call":
			open = append(open, it.CallID)
		case "function_call_output":
			at := slices.Index(open, it.CallID)
			if at < 0 {
				return refuse("No tool call found for function call output with call_id %s.", it.CallID)
			}
			open = slices.Delete(open, at, at+1)
		}
		m, err := it.message(i)
		if err != nil {
			return err
		}
		r.add(m)
	}
	switch {
	case thought != "":
		return refuse("Item '%s' of type 'reasoning' was provided without its required following item.", thought)
	case len(open) > 0:
		return refuse("No tool output found for function call %s.", open[0])
	}
	return nil
}

// add adds m to the messages, or to the last one if both are answers or
// results.
func (r *Request) add(m skein.Message) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == m.Role && (m.Role == skein.RoleAssistant || m.Role == skein.RoleTool) {
		r.Messages[n-1].Parts = append(r.Messages[n-1].Parts, m.Parts...)
		return
	}
	r.Messages = append(r.Messages, m)
}
