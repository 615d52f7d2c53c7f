package anthropic

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// request converts r to the Messages API.
func (p *Provider) request(ctx context.Context, r llm.Request) (*request, error) {
	m := &request{Model: p.options.Model, MaxTokens: int64(r.MaxTokens), Stream: true}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if m.MaxTokens == 0 {
		m.MaxTokens = maxTokens(p.options.Model)
	}
	if r.System != "" {
		m.System = append(m.System, text(r.System))
	}
	for _, t := range r.Tools {
		m.Tools = append(m.Tools, &tool{Name: t.Name, Doc: t.Doc, Schema: t.Schema})
	}
	for i := range r.Messages {
		if r.Messages[i].Role == skein.RoleSystem {
			m.System = append(m.System, text(r.Messages[i].Words()))
			continue
		}
		c, err := content(ctx, &r, &r.Messages[i])
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		m.Messages = append(m.Messages, c)
	}
	think(m, p.options.Effort, r.Messages)
	cache(m)
	return m, nil
}

func text(s string) *block { return &block{Type: "text", Text: s} }

// content converts m to the Messages API.
func content(ctx context.Context, r *llm.Request, m *skein.Message) (message, error) {
	c := message{Role: "user"}
	if m.Role == skein.RoleAssistant {
		c.Role = "assistant"
	}
	for i := range m.Parts {
		b, err := blockOf(ctx, r, &m.Parts[i])
		if err != nil {
			return c, err
		}
		c.Content = append(c.Content, b)
	}
	return c, nil
}

func blockOf(ctx context.Context, r *llm.Request, p *skein.Part) (any, error) {
	switch p.Kind {
	case skein.PartText:
		return text(string(p.Text)), nil
	case skein.PartReasoning:
		return p.Raw, nil
	case skein.PartCall:
		return &block{Type: "tool_use", ID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Input}, nil
	case skein.PartResult:
		return result(ctx, r, p.Result)
	case skein.PartFile:
		return file(ctx, r, p.File)
	}
	return nil, fmt.Errorf("%w: part of kind %q", llm.ErrRequest, p.Kind)
}

func result(ctx context.Context, r *llm.Request, res *skein.Result) (*block, error) {
	b := &block{Type: "tool_result", ToolUseID: res.CallID, Failed: res.Failed}
	if strings.TrimSpace(string(res.Text)) != "" {
		b.Content = append(b.Content, text(string(res.Text)))
	}
	for i := range res.Files {
		f, err := file(ctx, r, &res.Files[i])
		if err != nil {
			return nil, err
		}
		b.Content = append(b.Content, f)
	}
	return b, nil
}

// file converts f to an image or document, by URL or with its bytes.
func file(ctx context.Context, r *llm.Request, f *skein.File) (*block, error) {
	b := &block{Type: "document"}
	if strings.HasPrefix(f.Media, "image/") {
		b.Type = "image"
	}
	if f.Blob == "" {
		b.Source = &source{Type: "url", URL: f.URL}
		return b, nil
	}
	data, err := r.Data(ctx, f)
	if err != nil {
		return nil, err
	}
	switch {
	case b.Type == "image":
		b.Source = &source{Type: "base64", Media: f.Media, Data: base64.StdEncoding.EncodeToString(data)}
	case f.Media == "text/plain":
		b.Source = &source{Type: "text", Media: f.Media, Data: skein.Text(data).UTF8()}
	default:
		b.Source = &source{Type: "base64", Media: "application/pdf", Data: base64.StdEncoding.EncodeToString(data)}
	}
	return b, nil
}
