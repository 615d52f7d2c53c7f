package claudecode

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/skein-dev/skein"
)

// blocks returns the blocks of a message's content, each with its bytes; none
// if it has another shape.
func blocks(content raw) (bs []rawBlock) {
	var all []raw
	if content.Kind() != '[' || jsonv2.Unmarshal(content, &all, options()) != nil {
		return nil
	}
	for _, v := range all {
		b := rawBlock{raw: v}
		if v.Kind() == '{' {
			_ = jsonv2.Unmarshal(v, &b.block, options()) // a value that does not fit is kept raw
		}
		bs = append(bs, b)
	}
	return bs
}

type rawBlock struct {
	block
	raw raw
}

// words returns the text of a text or thinking block, and false if it is not a
// string.
func (b rawBlock) words() (string, bool) {
	v := b.Text
	if b.Type == "thinking" {
		v = b.Thinking
	}
	if len(v) == 0 || v.Kind() == 'n' {
		return "", true
	}
	return skein.Unquote(v)
}

// parts returns the parts of a message's content.
func (m *making) parts(content raw) []skein.Part {
	if s, ok := skein.Unquote(content); ok {
		return []skein.Part{skein.TextPart(s)}
	}
	parts := []skein.Part{}
	for _, b := range blocks(content) {
		parts = append(parts, m.part(b))
	}
	if len(parts) == 0 && len(content) > 0 && content.Kind() != '[' && content.Kind() != 'n' {
		parts = append(parts, skein.Part{Kind: skein.PartOther, Raw: json.RawMessage(content)})
	}
	return parts
}

// userParts returns the parts of a user's content, with tool results separate.
func (m *making) userParts() (parts, results []skein.Part) {
	parts = []skein.Part{}
	for _, p := range m.parts(m.Message.Content) {
		if p.Kind == skein.PartResult {
			results = append(results, p)
		} else {
			parts = append(parts, p)
		}
	}
	return parts, results
}

func (m *making) part(b rawBlock) skein.Part {
	words, plain := b.words()
	switch {
	case b.Type == "text" && plain:
		return skein.TextPart(words)
	case b.Type == "thinking" && plain:
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(words)}
	case b.Type == "thinking":
		return skein.Part{Kind: skein.PartReasoning, Raw: json.RawMessage(b.raw)}
	case b.Type == "redacted_thinking":
		return skein.Part{Kind: skein.PartReasoning, Raw: json.RawMessage(b.raw)}
	case (b.Type == "tool_use" || b.Type == "server_tool_use" || b.Type == "mcp_tool_use") && b.ID != "":
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: string(b.ID), Name: string(b.Name), Input: json.RawMessage(b.Input)}}
	case strings.HasSuffix(string(b.Type), "tool_result") && b.ToolUseID != "":
		return m.result(b)
	case (b.Type == "image" || b.Type == "document") && b.Source != nil:
		if f := file(m, b); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	}
	return skein.Part{Kind: skein.PartOther, Raw: json.RawMessage(b.raw)}
}

// result returns a tool's result: its texts joined, files, and the unchanged content
// if it has anything else.
func (m *making) result(b rawBlock) skein.Part {
	res := &skein.Result{CallID: string(b.ToolUseID), Name: m.calls.met[string(b.ToolUseID)].name, Failed: bool(b.IsError)}
	if s, ok := skein.Unquote(b.Content); ok {
		res.Text = skein.Text(s)
		return skein.Part{Kind: skein.PartResult, Result: res}
	}
	var texts []string
	other := len(b.Content) > 0 && b.Content.Kind() != '[' && b.Content.Kind() != 'n'
	for _, c := range blocks(b.Content) {
		var f *skein.File
		if (c.Type == "image" || c.Type == "document") && c.Source != nil {
			f = file(m, c)
		}
		words, plain := c.words()
		switch {
		case c.Type == "text" && plain:
			texts = append(texts, words)
		case f != nil:
			res.Files = append(res.Files, *f)
		default:
			other = true
		}
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
	if other {
		res.Raw = json.RawMessage(b.Content)
	}
	return skein.Part{Kind: skein.PartResult, Result: res}
}

// file returns the image or document in b, its bytes as a blob; nil if it has
// another shape.
func file(m *making, b rawBlock) *skein.File {
	s, name := b.Source, clip(string(b.Title))
	switch s.Type {
	case "base64":
		data, err := base64.StdEncoding.DecodeString(string(s.Data))
		if err != nil || len(data) == 0 {
			return nil
		}
		return keep(m, name, clip(string(s.Media)), data)
	case "text":
		return keep(m, name, clip(string(s.Media)), []byte(s.Data))
	case "url":
		return &skein.File{Name: name, Media: clip(string(s.Media)), URL: string(s.URL)}
	}
	return nil
}

func keep(m *making, name, media string, data []byte) *skein.File {
	blob := skein.NewBlob(data)
	m.blobs = append(m.blobs, blob)
	return &skein.File{Name: name, Media: media, Blob: blob.Hash, Size: int64(len(data))}
}

// facts returns the useful facts of a tool's rich result; nil if there are none.
func (f toolUseResult) facts() json.RawMessage {
	if f == (toolUseResult{}) {
		return nil
	}
	b, err := jsonv2.Marshal(f)
	if err != nil {
		return nil
	}
	return b
}
