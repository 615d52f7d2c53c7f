package goose

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said is a message with the bytes of its files.
type said struct {
	skein.Message
	blobs   []skein.Blob
	notices int // parts that are notices to the user
}

// role gives the message its role; "" if it has none.
func (s *said) role(name string) {
	switch name {
	case "assistant":
		s.Role = skein.RoleAssistant
	case "user":
		s.Role = skein.RoleUser
		results := 0
		for _, p := range s.Parts {
			if p.Result != nil {
				results++
			}
		}
		if results > 0 && results == len(s.Parts) {
			s.Role = skein.RoleTool
		}
	}
}

// content returns the parts in a list; anything else is one part, unchanged.
func (r *reader) content(v jsontext.Value) said {
	s := said{Message: skein.Message{Parts: []skein.Part{}}}
	if v.Kind() != '[' {
		if text := loose.Str(v); text != "" {
			s.Parts = append(s.Parts, skein.TextPart(text))
		} else if !loose.IsNull(v) {
			s.Parts = append(s.Parts, other(v))
		}
		return s
	}
	for _, v := range loose.Elements(v) {
		o, err := loose.Parse(v)
		if err != nil {
			s.Parts = append(s.Parts, other(v))
			continue
		}
		s.Parts = append(s.Parts, r.part(&s, v, o))
	}
	return s
}

func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)}
}

// part converts an element of a content; an unknown one is kept unchanged.
func (r *reader) part(s *said, v jsontext.Value, o loose.Object) skein.Part {
	switch o.Str("type") {
	case "text":
		if text, ok := o.Text("text"); ok {
			return skein.TextPart(text)
		}
	case "thinking":
		text, _ := o.Text("thinking")
		p := skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)}
		if o.Str("signature") != "" {
			p.Raw = loose.Raw(v)
		}
		return p
	case "redactedThinking":
		return skein.Part{Kind: skein.PartReasoning, Raw: loose.Raw(v)}
	case "image", "document":
		if f := s.file(o); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	case "toolRequest", "frontendToolRequest":
		if p, ok := r.call(o); ok {
			return p
		}
	case "toolResponse":
		return r.result(s, o)
	case "error":
		s.Error = &skein.ErrorInfo{Kind: o.Str("kind", "code"), Message: o.Str("message", "error", "msg")}
	case "systemNotification", "contextLengthExceeded", "summarizationRequested", "conversationCompacted":
		s.notices++
	}
	return other(v)
}

// file returns a file from data and mimeType, nil if they are missing.
func (s *said) file(o loose.Object) *skein.File {
	f, blob := loose.Attach(o.Str("name", "uri"), o.Str("mimeType", "mime_type"), o.Str("data", "blob"))
	if blob != nil {
		s.blobs = append(s.blobs, *blob)
	}
	return f
}

// maxTools is the number of calls whose tool a reader remembers: more than ever wait
// for an answer.
const maxTools = 10000

// call returns a call, and false if it is malformed.
func (r *reader) call(o loose.Object) (skein.Part, bool) {
	call := o.Obj("toolCall").Obj("value")
	id, name := o.Str("id"), call.Str("name")
	if id == "" || name == "" {
		return skein.Part{}, false
	}
	if len(r.tools) < maxTools {
		r.tools[id] = name
	}
	p := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: loose.Raw(call.Get("arguments"))}}
	if more := o.Without("type", "id", "toolCall"); len(more) > 2 {
		p.Meta = loose.Raw(more)
	}
	return p, true
}

// result returns what a tool answered: its texts joined, and files; the unchanged
// result if it has anything else.
func (r *reader) result(s *said, o loose.Object) skein.Part {
	id := o.Str("id")
	res := &skein.Result{CallID: id, Name: r.tools[id]}
	delete(r.tools, id)
	p := skein.Part{Kind: skein.PartResult, Result: res}
	in := o.Obj("toolResult")
	if in.Str("status") == "error" || in.Get("value") == nil && in.Get("error") != nil {
		text, _ := in.Text("error")
		res.Text, res.Failed = skein.Text(text), true
		return p
	}
	value := in.Get("value")
	list := loose.Elements(value) // before 1.8
	if value.Kind() == '{' {
		v := in.Obj("value")
		list, res.Failed = v.List("content"), v.Yes("isError")
		if v.Get("structuredContent") != nil && len(list) == 0 {
			res.Raw = loose.Raw(v.Get("structuredContent"))
		}
	}
	var texts []string
	for _, v := range list {
		if text, ok := s.answer(res, v); ok && (len(texts) == 0 || texts[len(texts)-1] != text) {
			texts = append(texts, text) // repeated for the model and for the user if equal
		} else if !ok {
			res.Raw = loose.Raw(value)
		}
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
	return p
}

// answer returns the text of a piece of a result, or adds its file; false if it is
// neither.
func (s *said) answer(res *skein.Result, v jsontext.Value) (string, bool) {
	o, _ := loose.Parse(v) // a value that is not an object is neither
	switch o.Str("type") {
	case "text":
		return o.Text("text")
	case "resource":
		o = o.Obj("resource")
		if text, ok := o.Text("text"); ok {
			return text, true
		}
	case "image", "audio":
	default:
		return "", false
	}
	f := s.file(o)
	if f == nil {
		return "", false
	}
	res.Files = append(res.Files, *f)
	return "", true
}
