package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// params returns r as the Chat Completions API wants it.
func (c *Chat) params(ctx context.Context, r llm.Request) (openai.ChatCompletionNewParams, error) {
	m := openai.ChatCompletionNewParams{
		Model: c.options.Model, ReasoningEffort: shared.ReasoningEffort(c.options.Effort),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if err := r.Check(); err != nil {
		return m, err
	}
	switch limit := openai.Int(int64(r.MaxTokens)); {
	case r.MaxTokens == 0:
	case c.dialect.Newer:
		m.MaxCompletionTokens = limit
	default:
		m.MaxTokens = limit
	}
	if c.dialect.Extra != nil {
		m.SetExtraFields(c.dialect.Extra)
	}
	for _, t := range r.Tools {
		f := param.Override[shared.FunctionDefinitionParam](definition{t.Name, t.Doc, t.Schema})
		m.Tools = append(m.Tools, openai.ChatCompletionFunctionTool(f))
	}
	if r.System != "" {
		m.Messages = append(m.Messages, openai.SystemMessage(r.System))
	}
	for i := range r.Messages {
		more, err := c.messages(ctx, &r, &r.Messages[i])
		if err != nil {
			return m, fmt.Errorf("message %d: %w", i, err)
		}
		m.Messages = append(m.Messages, more...)
	}
	return m, nil
}

// A definition is a tool, its schema as it was given.
type definition struct {
	Name       string          `json:"name"`
	Doc        string          `json:"description,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// messages returns m as messages: one for each result, and one for the rest.
func (c *Chat) messages(ctx context.Context, r *llm.Request, m *skein.Message) (all []openai.ChatCompletionMessageParamUnion, err error) {
	switch m.Role {
	case skein.RoleSystem:
		return append(all, openai.SystemMessage(m.Words())), nil
	case skein.RoleAssistant:
		return append(all, c.assistant(m)), nil
	}
	var content []openai.ChatCompletionContentPartUnionParam
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case skein.PartText:
			content = append(content, openai.TextContentPart(string(p.Text)))
		case skein.PartFile:
			f, err := chatFile(ctx, r, p.File)
			if err != nil {
				return nil, err
			}
			content = append(content, f)
		case skein.PartResult:
			all = append(all, openai.ToolMessage(outcome(p.Result), p.Result.CallID))
		default:
			return nil, fmt.Errorf("%w: part of kind %q", llm.ErrRequest, p.Kind)
		}
	}
	switch {
	case len(content) == 1 && content[0].OfText != nil:
		all = append(all, openai.UserMessage(content[0].OfText.Text)) // what every server takes
	case len(content) > 0:
		all = append(all, openai.UserMessage(content))
	}
	return all, nil
}

// assistant returns an answer: its text as one, and its calls. Signatures stand
// beside the call that comes after them; those of the text beside the message.
func (c *Chat) assistant(m *skein.Message) openai.ChatCompletionMessageParamUnion {
	var a openai.ChatCompletionAssistantMessageParam
	var text []string
	var signed json.RawMessage
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case skein.PartText:
			text = append(text, string(p.Text))
		case skein.PartReasoning:
			if c.dialect.Signed {
				signed = p.Raw
			}
		case skein.PartCall:
			if signed == nil && len(a.ToolCalls) == 0 {
				signed = c.dialect.Unsigned
			}
			a.ToolCalls = append(a.ToolCalls, c.call(p.Call, signed))
			signed = nil
		}
	}
	if len(text) > 0 {
		a.Content.OfString = openai.String(strings.Join(text, "\n\n"))
	}
	if signed != nil {
		a.SetExtraFields(map[string]any{"extra_content": signed})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

func (c *Chat) call(call *skein.Call, signed json.RawMessage) openai.ChatCompletionMessageToolCallUnionParam {
	f := openai.ChatCompletionMessageFunctionToolCallParam{
		ID:       call.ID,
		Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(call.Input)},
	}
	if signed != nil {
		f.SetExtraFields(map[string]any{"extra_content": signed})
	}
	return openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &f}
}

// chatFile returns f as an image, a recording or a document.
func chatFile(ctx context.Context, r *llm.Request, f *skein.File) (p openai.ChatCompletionContentPartUnionParam, err error) {
	url, err := r.DataURL(ctx, f)
	if err != nil {
		return p, err
	}
	if strings.HasPrefix(f.Media, "audio/") {
		_, data, _ := strings.Cut(url, ";base64,")
		format := strings.TrimPrefix(f.Media, "audio/")
		if format == "mpeg" {
			format = "mp3"
		}
		return openai.InputAudioContentPart(openai.ChatCompletionContentPartInputAudioInputAudioParam{Data: data, Format: format}), nil
	}
	// Gemini takes documents here too, by the type in the URL.
	return openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}), nil
}
