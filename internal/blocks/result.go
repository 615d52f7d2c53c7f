package blocks

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// result adds a tool's result, and reports whether the block is one.
func (r *Reader) result(c *Content, b loose.Object) bool {
	id := b.Str("tool_use_id", "toolCallId", "toolUseID")
	if id == "" {
		return false
	}
	res := &skein.Result{CallID: id, Name: b.Str("toolName"), Failed: b.Yes("is_error") || b.Yes("isError")}
	if name := r.Tool(id); res.Name == "" {
		res.Name = name
	}
	var v jsontext.Value
	for _, name := range []string{"content", "result", "output"} {
		if got := b.Get(name); !loose.IsNull(got) {
			v = got
		}
	}
	c.Fill(res, v)
	c.Parts = append(c.Parts, skein.Part{Kind: skein.PartResult, Result: res})
	return true
}

// Fill puts the content of v into a result: its texts, joined, its files, and v
// itself if there is anything else in it.
func (c *Content) Fill(res *skein.Result, v jsontext.Value) {
	switch {
	case loose.IsNull(v):
	case v.Kind() == '"':
		res.Text = skein.Text(loose.Str(v))
	case v.Kind() == '[':
		c.fillList(res, v)
	case v.Kind() == '{' && c.fillTyped(res, v):
	default:
		res.Raw = loose.Raw(v)
	}
}

func (c *Content) fillList(res *skein.Result, v jsontext.Value) {
	var texts []string
	for _, e := range loose.Elements(v) {
		b, err := loose.Parse(e)
		if err != nil {
			res.Raw = loose.Raw(v)
			continue
		}
		if text, ok := b.Text("text"); ok && b.Str("type") == "text" {
			texts = append(texts, text)
			continue
		}
		var of Content
		if kind := b.Str("type"); (kind == "image" || kind == "document" || kind == "file" || kind == "media") && of.attach(b) {
			res.Files = append(res.Files, *of.Parts[0].File)
			c.Blobs = append(c.Blobs, of.Blobs...)
			continue
		}
		res.Raw = loose.Raw(v)
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
}

// fillTyped fills res from the AI SDK's {"type":"text","value":…}, if v is one.
func (c *Content) fillTyped(res *skein.Result, v jsontext.Value) bool {
	b, err := loose.Parse(v)
	if err != nil || !b.Has("type", "value") {
		return false
	}
	kind, value := b.Str("type"), b.Get("value")
	res.Failed = res.Failed || strings.HasPrefix(kind, "error-")
	switch kind {
	case "text", "error-text", "content":
		c.Fill(res, value)
	case "json", "error-json":
		res.Raw = loose.Raw(value)
	default:
		return false
	}
	return true
}
