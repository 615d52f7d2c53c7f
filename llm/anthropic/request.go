package anthropic

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// params returns r as the API wants it.
func (p *Provider) params(ctx context.Context, r llm.Request) (sdk.MessageNewParams, error) {
	m := sdk.MessageNewParams{Model: p.options.Model, MaxTokens: int64(r.MaxTokens)}
	if err := r.Check(); err != nil {
		return m, err
	}
	if m.MaxTokens == 0 {
		m.MaxTokens = maxTokens(p.options.Model)
	}
	if r.System != "" {
		m.System = append(m.System, sdk.TextBlockParam{Text: r.System})
	}
	for _, t := range r.Tools {
		m.Tools = append(m.Tools, tool(t))
	}
	for i := range r.Messages {
		if r.Messages[i].Role == skein.RoleSystem {
			m.System = append(m.System, sdk.TextBlockParam{Text: r.Messages[i].Words()})
			continue
		}
		c, err := content(ctx, &r, &r.Messages[i])
		if err != nil {
			return m, fmt.Errorf("message %d: %w", i, err)
		}
		m.Messages = append(m.Messages, c)
	}
	think(&m, p.options.Effort, r.Messages)
	cache(&m)
	return m, nil
}

func tool(t llm.ToolSpec) sdk.ToolUnionParam {
	tool := sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](t.Schema)}
	if t.Doc != "" {
		tool.Description = sdk.String(t.Doc)
	}
	return sdk.ToolUnionParam{OfTool: &tool}
}

// content returns m as the API wants it.
func content(ctx context.Context, r *llm.Request, m *skein.Message) (sdk.MessageParam, error) {
	c := sdk.MessageParam{Role: sdk.MessageParamRoleUser}
	if m.Role == skein.RoleAssistant {
		c.Role = sdk.MessageParamRoleAssistant
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

func blockOf(ctx context.Context, r *llm.Request, p *skein.Part) (sdk.ContentBlockParamUnion, error) {
	switch p.Kind {
	case skein.PartText:
		return sdk.NewTextBlock(string(p.Text)), nil
	case skein.PartReasoning:
		return param.Override[sdk.ContentBlockParamUnion](p.Raw), nil
	case skein.PartCall:
		return sdk.NewToolUseBlock(p.Call.ID, p.Call.Input, p.Call.Name), nil
	case skein.PartResult:
		return result(ctx, r, p.Result)
	case skein.PartFile:
		return file(ctx, r, p.File)
	}
	return sdk.ContentBlockParamUnion{}, fmt.Errorf("%w: part of kind %q", llm.ErrRequest, p.Kind)
}

func result(ctx context.Context, r *llm.Request, res *skein.Result) (sdk.ContentBlockParamUnion, error) {
	b := sdk.ToolResultBlockParam{ToolUseID: res.CallID}
	if res.Failed {
		b.IsError = sdk.Bool(true)
	}
	if strings.TrimSpace(string(res.Text)) != "" {
		b.Content = append(b.Content, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: string(res.Text)}})
	}
	for i := range res.Files {
		f, err := file(ctx, r, &res.Files[i])
		if err != nil {
			return sdk.ContentBlockParamUnion{}, err
		}
		b.Content = append(b.Content, sdk.ToolResultBlockParamContentUnion{OfImage: f.OfImage, OfDocument: f.OfDocument})
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &b}, nil
}

// file returns f as an image or document, by URL or with its bytes.
func file(ctx context.Context, r *llm.Request, f *skein.File) (sdk.ContentBlockParamUnion, error) {
	image := strings.HasPrefix(f.Media, "image/")
	switch {
	case f.Blob == "" && image:
		return sdk.NewImageBlock(sdk.URLImageSourceParam{URL: f.URL}), nil
	case f.Blob == "":
		return sdk.NewDocumentBlock(sdk.URLPDFSourceParam{URL: f.URL}), nil
	}
	data, err := r.Data(ctx, f)
	if err != nil {
		return sdk.ContentBlockParamUnion{}, err
	}
	switch {
	case image:
		return sdk.NewImageBlockBase64(f.Media, base64.StdEncoding.EncodeToString(data)), nil
	case f.Media == "text/plain":
		return sdk.NewDocumentBlock(sdk.PlainTextSourceParam{Data: skein.Text(data).UTF8()}), nil
	}
	return sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(data)}), nil
}
