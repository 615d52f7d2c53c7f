package amplifier

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// parts returns the parts of a message's content: a string, or a list of
// blocks.
func (r *reader) parts(m *making, content jsontext.Value) []skein.Part {
	parts := []skein.Part{}
	if s, ok := skein.Unquote(content); ok {
		if s != "" {
			parts = append(parts, skein.TextPart(s))
		}
		return parts
	}
	for _, v := range elements(content) {
		parts = append(parts, r.part(m, v))
	}
	if k := content.Kind(); len(content) > 0 && k != '[' && k != 'n' {
		parts = append(parts, other(content))
	}
	return parts
}

// other keeps a value unchanged.
func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: raw(v)}
}

func raw(v jsontext.Value) json.RawMessage {
	c := v.Clone()
	if c.Compact() != nil {
		return nil // it is part of a value that was read
	}
	return json.RawMessage(c)
}

func (r *reader) part(m *making, v jsontext.Value) skein.Part {
	if s, ok := skein.Unquote(v); ok {
		return skein.TextPart(s)
	}
	o, err := parse(v)
	if err != nil {
		return other(v)
	}
	switch kind := o.str("type"); kind {
	case "text":
		if s, ok := o.text("text"); ok {
			return skein.TextPart(s)
		}
	case "thinking":
		if s, ok := o.text("thinking"); ok {
			return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(s), Raw: signed(o, v)}
		}
	case "redacted_thinking", "reasoning":
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thoughts(o)), Raw: raw(v)}
	case "tool_call", "tool_use":
		if p := call(o); p.Call.ID != "" {
			return p
		}
	case "tool_result":
		id := or(o.str("tool_call_id"), o.str("tool_use_id"))
		res := &skein.Result{CallID: id, Name: r.tools[id], Failed: o.yes("is_error")}
		out := o.get("output")
		if out == nil {
			out = o.get("content")
		}
		if r.fill(m, res, out); id != "" {
			return skein.Part{Kind: skein.PartResult, Result: res}
		}
	case "image", "document":
		if f := file(m, o.obj("source")); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	}
	return other(v)
}

// signed returns a thinking block unchanged if its provider signed it.
func signed(o object, v jsontext.Value) json.RawMessage {
	if o.str("signature") == "" && o.get("content") == nil {
		return nil
	}
	return raw(v)
}

// thoughts returns the readable text of a block of reasoning.
func thoughts(o object) string {
	var all []string
	for _, list := range []string{"summary", "content"} {
		for _, v := range o.list(list) {
			s, ok := skein.Unquote(v)
			if item, err := parse(v); !ok && err == nil {
				s, _ = item.text("text")
			}
			if s != "" {
				all = append(all, s)
			}
		}
	}
	return strings.Join(all, "\n")
}

// fill puts a tool's result into res: its texts joined, files, and the unchanged
// value if it has anything else.
func (r *reader) fill(m *making, res *skein.Result, v jsontext.Value) {
	if s, ok := skein.Unquote(v); ok {
		res.Text = skein.Text(s)
		return
	}
	if v.Kind() != '[' {
		if len(v) > 0 && v.Kind() != 'n' {
			res.Raw = raw(v)
		}
		return
	}
	var texts []string
	for _, p := range r.parts(m, v) {
		switch {
		case p.Kind == skein.PartText:
			texts = append(texts, string(p.Text))
		case p.Kind == skein.PartFile:
			res.Files = append(res.Files, *p.File)
		default:
			res.Raw = raw(v)
		}
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
}

// file returns an image or document, its bytes as a blob; nil if the source has
// another shape.
func file(m *making, o object) *skein.File {
	media := clip(o.str("media_type"))
	switch o.str("type") {
	case "base64":
		s, _ := o.text("data")
		data, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(data) == 0 {
			return nil
		}
		blob := skein.NewBlob(data)
		m.blobs = append(m.blobs, blob)
		return &skein.File{Media: media, Blob: blob.Hash, Size: int64(len(data))}
	case "url":
		return &skein.File{Media: media, URL: o.str("url")}
	}
	return nil
}
