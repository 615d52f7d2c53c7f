package gemini

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said is the content of a message.
type said struct {
	id      string              // to name calls that have no ID
	waiting map[string][]string // calls without an ID or a result so far, by tool
	parts   []skein.Part
	results []skein.Part
	blobs   []skein.Blob
}

// gather reads a content: a string, a part, or a list of both.
func (r *reader) gather(id string, v jsontext.Value) *said {
	s := &said{id: id, waiting: r.waiting}
	if v.Kind() != '[' {
		s.add(v)
		return s
	}
	for _, p := range loose.Elements(v) {
		s.add(p)
	}
	return s
}

func (s *said) add(v jsontext.Value) {
	if text, ok := skein.Unquote(v); ok {
		if text != "" {
			s.parts = append(s.parts, skein.TextPart(text))
		}
		return
	}
	if loose.IsNull(v) {
		return
	}
	o, err := loose.Parse(v)
	text, isText := o.Text("text")
	switch {
	case err != nil:
		s.other(v)
	case isText && o.Yes("thought"):
		s.parts = append(s.parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text), Meta: signature(o)})
	case isText:
		s.parts = append(s.parts, skein.Part{Kind: skein.PartText, Text: skein.Text(text), Meta: signature(o)})
	case o.Obj("functionCall") != nil:
		s.call(o.Obj("functionCall"), o)
	case o.Obj("functionResponse") != nil:
		s.result(o.Obj("functionResponse"))
	case o.Obj("inlineData") != nil, o.Obj("fileData") != nil:
		s.file(o, v)
	default:
		s.other(v)
	}
}

func (s *said) other(v jsontext.Value) {
	if raw := loose.Raw(v); raw != nil {
		s.parts = append(s.parts, skein.Part{Kind: skein.PartOther, Raw: raw})
	}
}

// signature returns what a part has only for its provider.
func signature(o loose.Object) []byte {
	if !o.Has("thoughtSignature") {
		return nil
	}
	return loose.Raw(o.Without("text", "thought", "functionCall"))
}

func (s *said) call(f, o loose.Object) {
	c := &skein.Call{ID: f.Str("id"), Name: f.Str("name"), Input: loose.Raw(f.Get("args"))}
	if c.ID == "" {
		c.ID = fmt.Sprintf("gm:%s:%d", s.id, len(s.parts))
		if len(s.waiting[c.Name]) < maxWaiting {
			s.waiting[c.Name] = append(s.waiting[c.Name], c.ID)
		}
	}
	s.parts = append(s.parts, skein.Part{Kind: skein.PartCall, Call: c, Meta: signature(o)})
}

// maxWaiting is how many calls of a tool can wait for a result.
const maxWaiting = 1000

func (s *said) result(f loose.Object) {
	res := &skein.Result{CallID: f.Str("id"), Name: f.Str("name")}
	if ids := s.waiting[res.Name]; res.CallID == "" && len(ids) > 0 {
		res.CallID, s.waiting[res.Name] = ids[0], ids[1:]
	}
	s.response(res, f)
	s.results = append(s.results, skein.Part{Kind: skein.PartResult, Result: res})
}

// response reads what a tool answered: {"output": …} or {"error": …}, or
// whatever object the tool made, and files beside it.
func (s *said) response(res *skein.Result, f loose.Object) {
	v := f.Get("response")
	o := f.Obj("response")
	out, isText := o.Text("output")
	failure, failed := o.Text("error")
	switch {
	case isText:
		res.Text = skein.Text(out)
	case failed:
		res.Text, res.Failed = skein.Text(failure), true
	case v.Kind() == '"':
		res.Text = skein.Text(loose.Str(v))
	case len(o) > 0 || v.Kind() != '{':
		res.Raw = loose.Raw(v)
	}
	if (isText || failed) && len(o) > 1 {
		res.Raw = loose.Raw(v)
	}
	for _, p := range f.List("parts") {
		if po, err := loose.Parse(p); err == nil {
			s.resultFile(res, po)
		}
	}
}

// resultFile adds a file that a tool answered with.
func (s *said) resultFile(res *skein.Result, o loose.Object) {
	f, b := attachment(o)
	if f == nil {
		return
	}
	res.Files = append(res.Files, *f)
	if b != nil {
		s.blobs = append(s.blobs, *b)
	}
}

func (s *said) file(o loose.Object, v jsontext.Value) {
	f, b := attachment(o)
	if f == nil {
		s.other(v)
		return
	}
	if b != nil {
		s.blobs = append(s.blobs, *b)
	}
	s.parts = append(s.parts, skein.Part{Kind: skein.PartFile, File: f})
}

func attachment(o loose.Object) (*skein.File, *skein.Blob) {
	if d := o.Obj("inlineData"); d != nil {
		return loose.Attach(d.Str("displayName"), d.Str("mimeType"), loose.Str(d.Get("data")))
	}
	d := o.Obj("fileData")
	uri := d.Str("fileUri")
	if uri == "" || !strings.Contains(uri, "://") {
		return nil, nil
	}
	return loose.Attach(d.Str("displayName"), d.Str("mimeType"), uri)
}

// texts returns the texts of the parts.
func (s *said) texts() (all []string) {
	for _, p := range s.parts {
		if p.Kind == skein.PartText {
			all = append(all, string(p.Text))
		}
	}
	return all
}

// injected reports whether the program put a text into a user's message.
func injected(text string) bool {
	return skein.Wrapped(text) || opening(text) || strings.HasPrefix(strings.TrimSpace(text), "<state_snapshot>") // the model may have been cut off
}

// opening reports whether a text is what the program sends the model each time it
// starts.
func opening(text string) bool {
	return begins(strings.TrimSpace(text), "<session_context>", "This is the Gemini CLI. We are setting up the context", "This is the Qwen Code. We are setting up the context")
}

func begins(text string, with ...string) bool {
	return slices.ContainsFunc(with, func(w string) bool { return strings.HasPrefix(text, w) })
}
