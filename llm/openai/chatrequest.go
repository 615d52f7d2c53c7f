package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// request converts r to the Chat Completions API.
func (c *ChatProvider) request(ctx context.Context, r llm.Request) (*chatRequest, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m := &chatRequest{Model: c.options.Model, Stream: true, Options: streamOptions{true}, Effort: string(c.options.Effort), Extra: c.dialect.Extra}
	if c.dialect.Newer {
		m.MaxNewTokens = r.MaxTokens
	} else {
		m.MaxTokens = r.MaxTokens
	}
	for _, t := range r.Tools {
		m.Tools = append(m.Tools, chatTool{"function", function{Name: t.Name, Doc: t.Doc, Parameters: t.Schema}})
	}
	if r.System != "" {
		m.Messages = append(m.Messages, chatMessage{Role: "system", Content: r.System})
	}
	for i := range r.Messages {
		more, err := c.messages(ctx, &r, &r.Messages[i])
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		m.Messages = append(m.Messages, more...)
	}
	return m, nil
}

// messages converts m to messages: one for each result, and one for the rest.
func (c *ChatProvider) messages(ctx context.Context, r *llm.Request, m *skein.Message) (all []chatMessage, err error) {
	switch m.Role {
	case skein.RoleSystem:
		return append(all, chatMessage{Role: "system", Content: m.Words()}), nil
	case skein.RoleAssistant:
		return append(all, c.assistant(m)), nil
	}
	var list []chatPart
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case skein.PartText:
			text := string(p.Text)
			list = append(list, chatPart{Type: "text", Text: &text})
		case skein.PartFile:
			f, err := chatFile(ctx, r, p.File)
			if err != nil {
				return nil, err
			}
			list = append(list, f)
		case skein.PartResult:
			all = append(all, chatMessage{Role: "tool", Content: outcome(p.Result), CallID: p.Result.CallID})
		default:
			return nil, fmt.Errorf("%w: part of kind %q", llm.ErrRequest, p.Kind)
		}
	}
	switch {
	case len(list) == 1 && list[0].Text != nil:
		all = append(all, chatMessage{Role: "user", Content: *list[0].Text}) // every server accepts this form
	case len(list) > 0:
		all = append(all, chatMessage{Role: "user", Content: list})
	}
	return all, nil
}

// assistant converts an answer: its text as one string, and its calls.
// Signatures go with the next call; those of the text go with the message.
func (c *ChatProvider) assistant(m *skein.Message) chatMessage {
	a := chatMessage{Role: "assistant"}
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
			if signed == nil && len(a.Calls) == 0 {
				signed = c.dialect.Unsigned
			}
			a.Calls = append(a.Calls, callOf(p.Call, signed))
			signed = nil
		}
	}
	if len(text) > 0 {
		a.Content = strings.Join(text, "\n\n")
	}
	a.Extra = signed
	return a
}

func callOf(call *skein.Call, signed json.RawMessage) chatCall {
	return chatCall{ID: call.ID, Type: "function", Function: chatFunction{call.Name, string(call.Input)}, Extra: signed}
}

// chatFile converts f to an image, a recording or a document.
func chatFile(ctx context.Context, r *llm.Request, f *skein.File) (p chatPart, err error) {
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
		return chatPart{Type: "input_audio", Audio: &chatAudio{data, format}}, nil
	}
	// Gemini also takes documents here, by the type in the URL.
	return chatPart{Type: "image_url", Image: &chatImage{url}}, nil
}
