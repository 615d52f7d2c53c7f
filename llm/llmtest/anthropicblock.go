package llmtest

import (
	"slices"

	"github.com/skein-dev/skein"
)

// part converts the content block c; at is its place.
func (c *anthropicContent) part(at, role string) (p skein.Part, err error) {
	mine := role == "assistant"
	switch {
	case c.Type == "text" && c.Text != nil:
		if blank(*c.Text) {
			return p, refuse("messages: text content blocks must contain non-whitespace text")
		}
		return textOf(*c.Text), nil
	case c.Type == "thinking" && mine:
		if c.Signature != sign(c.Thinking) {
			return p, refuse("%s: Invalid `signature` in `thinking` block", at)
		}
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(c.Thinking), Raw: encode(c.Signature)}, nil
	case c.Type == "redacted_thinking" && mine:
		if c.Data != sign("") {
			return p, refuse("%s: Invalid `data` in `redacted_thinking` block", at)
		}
		return skein.Part{Kind: skein.PartReasoning, Raw: encode(c.Data)}, nil
	case c.Type == "tool_use" && mine:
		switch {
		case !anthropicName.MatchString(c.ID):
			return p, refuse("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
		case !anthropicName.MatchString(c.Name):
			return p, refuse("%s.tool_use.name: String should match pattern '%s'", at, anthropicName)
		case !isObject(c.Input):
			return p, refuse("%s.tool_use.input: Input should be a valid dictionary", at)
		}
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.ID, Name: c.Name, Input: c.Input}}, nil
	case c.Type == "tool_result" && !mine:
		return c.result(at)
	case (c.Type == "image" || c.Type == "document") && !mine && c.Source != nil:
		f, err := c.file(at)
		return skein.Part{Kind: skein.PartFile, File: f}, err
	}
	return p, refuse("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, c.Type)
}

func (c *anthropicContent) result(at string) (p skein.Part, err error) {
	res := &skein.Result{CallID: c.ToolUseID, Failed: c.IsError}
	for i := range c.Content {
		sub := &c.Content[i]
		switch {
		case sub.Type == "text" && sub.Text != nil && !blank(*sub.Text):
			res.Text += skein.Text(*sub.Text)
		case (sub.Type == "image" || sub.Type == "document") && sub.Source != nil:
			f, err := sub.file(at)
			if err != nil {
				return p, err
			}
			res.Files = append(res.Files, *f)
		default:
			return p, refuse("%s.tool_result.content.%d: text content blocks must be non-empty", at, i)
		}
	}
	return skein.Part{Kind: skein.PartResult, Result: res}, nil
}

func (c *anthropicContent) file(at string) (*skein.File, error) {
	s := c.Source
	images := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	switch {
	case s.Type == "url":
		return &skein.File{URL: s.URL}, nil
	case s.Type == "text" && s.Media == "text/plain" && c.Type == "document":
		b := skein.NewBlob([]byte(s.Data))
		return &skein.File{Media: s.Media, Blob: b.Hash, Size: int64(len(s.Data))}, nil
	case s.Type != "base64", c.Type == "image" && !slices.Contains(images, s.Media), c.Type == "document" && s.Media != "application/pdf":
		return nil, refuse("%s.source: %s of type %q is not supported", at, c.Type, s.Media)
	}
	f, err := fileFrom(s.Media, s.Data)
	if err != nil {
		return nil, refuse("%s.%s.source.base64.data: invalid base64 data", at, c.Type)
	}
	return f, nil
}
