package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// minOutput is the smallest limit that the Responses API accepts, in tokens.
const minOutput = 16

// request converts r to the Responses API.
func (p *Provider) request(ctx context.Context, r llm.Request) (*request, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	m := &request{Model: p.options.Model, Stream: true, Instructions: r.System}
	p.think(m)
	if r.MaxTokens > 0 {
		m.MaxTokens = max(r.MaxTokens, minOutput)
	}
	for _, t := range r.Tools {
		m.Tools = append(m.Tools, function{"function", t.Name, t.Doc, t.Schema, new(bool)})
	}
	m.Input = opaque(r.Opaque)
	for i := range r.Messages {
		more, err := itemsOf(ctx, &r, &r.Messages[i])
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		m.Input = append(m.Input, more...)
	}
	return m, nil
}

// think requests reasoning, encrypted because nothing is stored, from models
// that support it: others reject a request that mentions it.
func (p *Provider) think(m *request) {
	model := strings.TrimPrefix(p.options.Model, "ft:")
	for _, plain := range []string{"gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat"} {
		if strings.HasPrefix(model, plain) {
			return
		}
	}
	m.Include = []string{"reasoning.encrypted_content"}
	if p.options.Effort != "" {
		m.Reasoning = &reasoning{Effort: string(p.options.Effort), Summary: "auto"}
	}
}

// opaque returns the items that replace what was compacted: raw is one item, or
// a list of them.
func opaque(raw json.RawMessage) (items []any) {
	if len(raw) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		items = append(items, one)
	}
	return items
}

// itemsOf converts m to items: a message for consecutive text and files, and
// one item for each other part.
func itemsOf(ctx context.Context, r *llm.Request, m *skein.Message) (items []any, err error) {
	var list []content
	flush := func() {
		if len(list) > 0 {
			items = append(items, &item{Role: string(m.Role), Content: list})
			list = nil
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == skein.PartText && m.Role == skein.RoleAssistant:
			items = append(items, &item{Role: "assistant", Content: string(p.Text)})
			continue
		case p.Kind == skein.PartText:
			list = append(list, text(string(p.Text)))
			continue
		case p.Kind == skein.PartFile:
			f, err := file(ctx, r, p.File)
			if err != nil {
				return nil, err
			}
			list = append(list, f)
			continue
		}
		flush()
		it, err := itemOf(ctx, r, p)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	flush()
	return items, nil
}

func text(s string) content { return content{Type: "input_text", Text: &s} }

func itemOf(ctx context.Context, r *llm.Request, p *skein.Part) (any, error) {
	switch p.Kind {
	case skein.PartReasoning:
		return p.Raw, nil
	case skein.PartCall:
		arguments := string(p.Call.Input)
		return &item{Type: "function_call", CallID: p.Call.ID, Name: p.Call.Name, Arguments: &arguments}, nil
	case skein.PartResult:
		return result(ctx, r, p.Result)
	}
	return nil, fmt.Errorf("%w: part of kind %q", llm.ErrRequest, p.Kind)
}

// result converts res to an item: a text, or a list if there are files.
func result(ctx context.Context, r *llm.Request, res *skein.Result) (*item, error) {
	out := &item{Type: "function_call_output", CallID: res.CallID, Output: outcome(res)}
	if len(res.Files) == 0 {
		return out, nil
	}
	var list []content
	if s := outcome(res); s != "" {
		list = append(list, text(s))
	}
	for i := range res.Files {
		url, err := r.DataURL(ctx, &res.Files[i])
		if err != nil {
			return nil, err
		}
		list = append(list, content{Type: "input_image", Image: url})
	}
	out.Output = list
	return out, nil
}

// outcome returns the text of res, which says so if the tool failed: neither
// API has a field for that.
func outcome(res *skein.Result) string {
	text := string(res.Text)
	if res.Failed && strings.TrimSpace(text) == "" {
		return "[The tool failed.]"
	}
	return text
}

// file converts f to an image or a document, by URL or with its bytes.
func file(ctx context.Context, r *llm.Request, f *skein.File) (c content, err error) {
	url, err := r.DataURL(ctx, f)
	switch {
	case err != nil:
		return c, err
	case strings.HasPrefix(f.Media, "image/"):
		return content{Type: "input_image", Image: url, Detail: "auto"}, nil
	case f.Blob == "":
		return content{Type: "input_file", URL: url}, nil
	}
	return content{Type: "input_file", Data: url, Name: nameOf(f)}, nil
}

// nameOf returns a name for f, which the API requires.
func nameOf(f *skein.File) string {
	if f.Name == "" {
		return "file"
	}
	return f.Name[strings.LastIndexAny(f.Name, `/\`)+1:]
}
