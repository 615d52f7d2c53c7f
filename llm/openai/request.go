package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// minOutput is the smallest limit that the Responses API takes, in tokens.
const minOutput = 16

// params returns r as the Responses API wants it.
func (p *Provider) params(ctx context.Context, r llm.Request) (responses.ResponseNewParams, error) {
	m := responses.ResponseNewParams{Model: p.options.Model, Store: openai.Bool(false)}
	if err := r.Check(); err != nil {
		return m, err
	}
	p.think(&m)
	if r.System != "" {
		m.Instructions = openai.String(r.System)
	}
	if r.MaxTokens > 0 {
		m.MaxOutputTokens = openai.Int(int64(max(r.MaxTokens, minOutput)))
	}
	for _, t := range r.Tools {
		f := param.Override[responses.FunctionToolParam](function{"function", t.Name, t.Doc, t.Schema, false})
		m.Tools = append(m.Tools, responses.ToolUnionParam{OfFunction: &f})
	}
	items := opaque(r.Opaque)
	for i := range r.Messages {
		more, err := itemsOf(ctx, &r, &r.Messages[i])
		if err != nil {
			return m, fmt.Errorf("message %d: %w", i, err)
		}
		items = append(items, more...)
	}
	m.Input.OfInputItemList = items
	return m, nil
}

// think asks for reasoning, encrypted as nothing is kept, from models that do:
// others turn down a request that speaks of it.
func (p *Provider) think(m *responses.ResponseNewParams) {
	model := strings.TrimPrefix(p.options.Model, "ft:")
	for _, plain := range []string{"gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat"} {
		if strings.HasPrefix(model, plain) {
			return
		}
	}
	m.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	if p.options.Effort != "" {
		m.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffort(p.options.Effort), Summary: shared.ReasoningSummaryAuto}
	}
}

// A function is a tool, its schema as it was given.
type function struct {
	Type       string          `json:"type,omitempty"`
	Name       string          `json:"name"`
	Doc        string          `json:"description,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Strict     bool            `json:"strict"`
}

// opaque returns the items that stand for what was compacted: raw is one, or a
// list of them.
func opaque(raw json.RawMessage) (items []responses.ResponseInputItemUnionParam) {
	if len(raw) == 0 {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		items = append(items, param.Override[responses.ResponseInputItemUnionParam](one))
	}
	return items
}

// itemsOf returns m as items: a message for text and files in a row, and one
// item for each other part.
func itemsOf(ctx context.Context, r *llm.Request, m *skein.Message) (items []responses.ResponseInputItemUnionParam, err error) {
	var content responses.ResponseInputMessageContentListParam
	flush := func() {
		if len(content) > 0 {
			items = append(items, responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRole(m.Role)))
			content = nil
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == skein.PartText && m.Role == skein.RoleAssistant:
			items = append(items, responses.ResponseInputItemParamOfMessage(string(p.Text), responses.EasyInputMessageRoleAssistant))
			continue
		case p.Kind == skein.PartText:
			content = append(content, responses.ResponseInputContentParamOfInputText(string(p.Text)))
			continue
		case p.Kind == skein.PartFile:
			f, err := file(ctx, r, p.File)
			if err != nil {
				return nil, err
			}
			content = append(content, f)
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

func itemOf(ctx context.Context, r *llm.Request, p *skein.Part) (it responses.ResponseInputItemUnionParam, err error) {
	switch p.Kind {
	case skein.PartReasoning:
		return param.Override[responses.ResponseInputItemUnionParam](p.Raw), nil
	case skein.PartCall:
		return responses.ResponseInputItemParamOfFunctionCall(string(p.Call.Input), p.Call.ID, p.Call.Name), nil
	case skein.PartResult:
		return result(ctx, r, p.Result)
	}
	return it, fmt.Errorf("%w: part of kind %q", llm.ErrRequest, p.Kind)
}

// result returns res as an item: a text, or a list if there are files.
func result(ctx context.Context, r *llm.Request, res *skein.Result) (it responses.ResponseInputItemUnionParam, err error) {
	out := &responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String(res.CallID)}
	text := outcome(res)
	if len(res.Files) == 0 {
		out.Output.OfString = openai.String(text)
		return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: out}, nil
	}
	list := responses.ResponseFunctionCallOutputItemListParam{}
	if text != "" {
		list = append(list, responses.ResponseFunctionCallOutputItemParamOfInputText(text))
	}
	for i := range res.Files {
		url, err := r.DataURL(ctx, &res.Files[i])
		if err != nil {
			return it, err
		}
		list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: openai.String(url)}})
	}
	out.Output.OfResponseFunctionCallOutputItemArray = list
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: out}, nil
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

// file returns f as an image or a document, by URL or with its bytes.
func file(ctx context.Context, r *llm.Request, f *skein.File) (c responses.ResponseInputContentUnionParam, err error) {
	url, err := r.DataURL(ctx, f)
	if err != nil {
		return c, err
	}
	if strings.HasPrefix(f.Media, "image/") {
		c = responses.ResponseInputContentParamOfInputImage(responses.ResponseInputImageDetailAuto)
		c.OfInputImage.ImageURL = openai.String(url)
		return c, nil
	}
	d := &responses.ResponseInputFileParam{}
	if f.Blob == "" {
		d.FileURL = openai.String(url)
	} else {
		d.FileData, d.Filename = openai.String(url), openai.String(nameOf(f))
	}
	return responses.ResponseInputContentUnionParam{OfInputFile: d}, nil
}

// nameOf returns a name for f, which the API wants one for.
func nameOf(f *skein.File) string {
	if f.Name == "" {
		return "file"
	}
	return f.Name[strings.LastIndexAny(f.Name, `/\`)+1:]
}
