package qwen

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// parts returns the parts of a message, with tool results separate.
func (r *reader) parts(m *making, message loose.Object) (parts, results []skein.Part) {
	content := message.Get("parts")
	if s, ok := skein.Unquote(content); ok {
		return []skein.Part{skein.TextPart(s)}, nil
	}
	blocks := loose.Elements(content)
	for _, v := range blocks {
		if p := r.part(m, v); p.Kind == skein.PartResult {
			results = append(results, p)
		} else {
			parts = append(parts, p)
		}
	}
	if len(blocks) == 0 && !loose.IsNull(content) && content.Kind() != '[' {
		parts = append(parts, other(content))
	}
	return parts, results
}

func (r *reader) part(m *making, v jsontext.Value) skein.Part {
	o, _ := loose.Parse(v) // a value that is not an object has no members
	call, res, data, file := o.Obj("functionCall"), o.Obj("functionResponse"), o.Obj("inlineData"), o.Obj("fileData")
	switch {
	case call != nil:
		c := &skein.Call{ID: callID(call), Name: call.Str("name"), Input: raw(call.Get("args"))}
		if len(r.names) < maxNames {
			r.names[c.ID] = c.Name
		}
		return skein.Part{Kind: skein.PartCall, Call: c}
	case res != nil:
		return r.result(m, res)
	case data != nil:
		f, blob := loose.Attach(data.Str("displayName"), data.Str("mimeType"), loose.Str(data.Get("data")))
		if f != nil {
			if blob != nil {
				m.blobs = append(m.blobs, *blob)
			}
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	case file != nil && file.Str("fileUri") != "":
		return skein.Part{Kind: skein.PartFile, File: &skein.File{
			Name: loose.Clip(file.Str("displayName")), Media: loose.Clip(file.Str("mimeType")), URL: loose.Clip(file.Str("fileUri")),
		}}
	}
	text, ok := o.Text("text")
	switch {
	case !ok:
		return other(v)
	case o.Yes("thought"):
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)}
	}
	return skein.TextPart(text)
}

// callID returns the ID of a call or its result; early ones have only the tool's
// name.
func callID(o loose.Object) string { return o.Str("id", "name") }

// result returns a tool's result: its output or error as text, or the result
// unchanged.
func (r *reader) result(m *making, o loose.Object) skein.Part {
	res := &skein.Result{CallID: callID(o), Name: o.Str("name")}
	if res.Name == "" {
		res.Name = r.names[res.CallID]
	}
	delete(r.names, res.CallID)
	answer := o.Obj("response")
	out, isOut := answer.Text("output")
	bad, isBad := answer.Text("error")
	switch {
	case isOut && len(answer) == 1:
		res.Text = skein.Text(out)
	case isBad && len(answer) == 1:
		res.Text, res.Failed = skein.Text(bad), true
	default:
		res.Raw, res.Failed = raw(o.Get("response")), isBad && bad != ""
		res.Text = skein.Text(strings.TrimSpace(out + "\n" + bad))
	}
	for _, v := range o.List("parts") { // what is not text
		if p := r.part(m, v); p.File != nil {
			res.Files = append(res.Files, *p.File)
		}
	}
	return skein.Part{Kind: skein.PartResult, Result: res}
}

func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: []byte(v)}
}

// raw returns v as a part of a payload; nil if it is null.
func raw(v jsontext.Value) []byte {
	if loose.IsNull(v) {
		return nil
	}
	return v
}
