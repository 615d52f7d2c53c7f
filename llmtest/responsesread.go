package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// responsesRequest is the body of a request, as far as skein could want it.
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

// readResponses reads a request as the Responses API does.
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

// items reads the input, and looks whether calls, results and reasoning fit.
func (q *responsesRequest) items(r *Request) error {
	var open []string // calls without a result
	thought := ""     // ID of reasoning that nothing has followed
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

// add adds m to the messages; to the last one, if both are answers or results.
func (r *Request) add(m skein.Message) {
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == m.Role && (m.Role == skein.RoleAssistant || m.Role == skein.RoleTool) {
		r.Messages[n-1].Parts = append(r.Messages[n-1].Parts, m.Parts...)
		return
	}
	r.Messages = append(r.Messages, m)
}

// message returns what item i says.
func (it *responsesItem) message(i int) (m skein.Message, err error) {
	said := func(role skein.Role, p skein.Part) (skein.Message, error) {
		return skein.Message{Role: role, Parts: []skein.Part{p}}, nil
	}
	switch {
	case it.Type == "reasoning":
		if it.Summary == nil {
			return m, refuse("Missing required parameter: 'input[%d].summary'.", i)
		}
		text := ""
		for _, s := range *it.Summary {
			text += s.Text
		}
		if it.Encrypted != sign(text) {
			return m, refuse("The encrypted content for item %s could not be verified.", it.ID)
		}
		return said(skein.RoleAssistant, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text), Raw: encode(it.Encrypted)})
	case it.Type == "function_call" && it.Arguments != nil:
		const limit = 64
		switch {
		case it.CallID == "" || len(it.CallID) > limit:
			return m, refuse("Invalid 'input[%d].call_id': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", i, limit, len(it.CallID))
		case !anthropicName.MatchString(it.Name):
			return m, refuse("Invalid 'input[%d].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		}
		return said(skein.RoleAssistant, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: it.CallID, Name: it.Name, Input: json.RawMessage(*it.Arguments)}})
	case it.Type == "function_call_output":
		parts, err := contents(it.Output, i, "input_")
		res := skein.Result{CallID: it.CallID}
		for _, p := range parts {
			if p.File != nil {
				res.Files = append(res.Files, *p.File)
			}
			res.Text += p.Text
		}
		m, _ = said(skein.RoleTool, skein.Part{Kind: skein.PartResult, Result: &res})
		return m, err
	case (it.Type == "" || it.Type == "message") && slices.Contains([]string{"user", "assistant", "system", "developer"}, it.Role):
		kind := "input_"
		if it.Role == "assistant" {
			kind = "output_"
		}
		parts, err := contents(it.Content, i, kind)
		return skein.Message{Role: skein.Role(it.Role), Parts: parts}, err
	}
	return m, refuse("Invalid value: 'input[%d]' of type '%s' and role '%s'.", i, it.Type, it.Role)
}

// contents returns the parts of a content: a string, or a list whose types
// begin with kind.
func contents(raw json.RawMessage, i int, kind string) (parts []skein.Part, err error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && len(raw) > 0 {
		return []skein.Part{textOf(s)}, nil
	}
	var list []responsesContent
	if unknown, err := decode(raw, &list); err != nil {
		return nil, refuse("Invalid type for 'input[%d].content': %s %v", i, unknown, err)
	}
	for j, c := range list {
		var f *skein.File
		switch {
		case c.Type == kind+"text" && c.Text != nil && *c.Text != "":
			parts = append(parts, textOf(*c.Text))
			continue
		case c.Type == "input_image" && kind == "input_":
			f, err = fileAt(c.Image)
		case c.Type == "input_file" && c.URL != "" && kind == "input_":
			f, err = fileAt(c.URL)
		case c.Type == "input_file" && c.Name != "" && kind == "input_":
			f, err = fileAt(c.File)
		default:
			return nil, refuse("Invalid value: '%s' at 'input[%d].content[%d]'.", c.Type, i, j)
		}
		if err != nil {
			return nil, refuse("Invalid 'input[%d].content[%d]': %v", i, j, err)
		}
		parts = append(parts, skein.Part{Kind: skein.PartFile, File: f})
	}
	return parts, nil
}
