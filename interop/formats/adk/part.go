package adk

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
	results int
}

// part converts a part of a content; one that is not known is kept unchanged. id is
// for calls that have none.
func (r *reader) part(s *said, v jsontext.Value, o loose.Object, id string) (p skein.Part) {
	signed := !loose.IsNull(get(o, "thought_signature"))
	defer func() {
		if signed && p.Raw == nil && p.Meta == nil {
			p.Meta = skein.MustJSON(map[string]string{"thought_signature": loose.Str(get(o, "thought_signature"))})
		}
	}()
	if c := obj(o, "function_call"); c != nil {
		return r.call(c, id)
	}
	if a := obj(o, "function_response"); a != nil {
		s.results++
		return r.answer(s, a)
	}
	if f := s.file(o); f != nil {
		return skein.Part{Kind: skein.PartFile, File: f}
	}
	if c := obj(o, "executable_code"); c != nil {
		return r.call(loose.Object{{Name: "name", Value: jsontext.Value(`"code_execution"`)}, {Name: "id", Value: c.Get("id")}, {Name: "args", Value: c.Without("id")}}, id)
	}
	if a := obj(o, "code_execution_result"); a != nil {
		return r.ran(a)
	}
	text, ok := o.Text("text")
	switch {
	case !ok:
		return skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)}
	case o.Yes("thought"):
		p = skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)}
		if signed {
			p.Raw = loose.Raw(v)
		}
		return p
	}
	return skein.TextPart(text)
}

// file returns a part as a file, nil if it is not one. Python writes base64 with -
// and _.
func (s *said) file(o loose.Object) *skein.File {
	var f *skein.File
	var blob *skein.Blob
	if in := obj(o, "inline_data"); in != nil {
		data := strings.NewReplacer("-", "+", "_", "/").Replace(in.Str("data"))
		f, blob = loose.Attach(in.Str("display_name", "displayName"), in.Str("mime_type", "mimeType"), data)
	} else if in := obj(o, "file_data"); in != nil {
		f, blob = loose.Attach(in.Str("display_name", "displayName"), in.Str("mime_type", "mimeType"), in.Str("file_uri", "fileUri"))
	}
	if blob != nil {
		s.blobs = append(s.blobs, *blob)
	}
	return f
}

// maxTools is the number of calls whose tool a reader remembers: more than ever wait
// for an answer.
const maxTools = 10000

func (r *reader) remember(id string, c call) {
	if _, ok := r.tools[id]; ok || len(r.tools) < maxTools {
		r.tools[id] = c
	}
	if _, ok := r.byName[c.name]; ok || len(r.byName) < maxTools {
		r.byName[c.name] = id
	}
}

func (r *reader) call(o loose.Object, id string) skein.Part {
	c := &skein.Call{ID: o.Str("id"), Name: o.Str("name"), Input: loose.Raw(o.Get("args"))}
	if c.ID == "" {
		c.ID = id
	}
	r.remember(c.ID, call{name: c.Name})
	return skein.Part{Kind: skein.PartCall, Call: c}
}

// answer returns a tool's result: the text, if that is all, else the answer
// unchanged.
func (r *reader) answer(s *said, o loose.Object) skein.Part {
	res := &skein.Result{CallID: o.Str("id"), Name: o.Str("name")}
	if res.CallID == "" {
		res.CallID = r.byName[res.Name]
	}
	if res.Name == "" {
		res.Name = r.tools[res.CallID].name
	}
	response := o.Obj("response")
	text, ok := "", false
	if len(response) == 1 {
		text, ok = skein.Unquote(response[0].Value)
		res.Failed = response[0].Name == "error"
	}
	if res.Text = skein.Text(text); !ok {
		res.Raw = loose.Raw(o.Get("response"))
	}
	for _, v := range o.List("parts") { // from newer models: files
		p, _ := loose.Parse(v) // a value that is not an object is skipped
		if f := s.file(p); f != nil {
			res.Files = append(res.Files, *f)
		}
	}
	return skein.Part{Kind: skein.PartResult, Result: res}
}

// ran returns the result of the code that the model wrote.
func (r *reader) ran(o loose.Object) skein.Part {
	text, _ := o.Text("output")
	res := &skein.Result{CallID: o.Str("id"), Name: "code_execution", Text: skein.Text(text)}
	if res.CallID == "" {
		res.CallID = r.byName[res.Name]
	}
	outcome := o.Str("outcome")
	res.Failed = outcome != "" && !strings.HasSuffix(outcome, "OK")
	return skein.Part{Kind: skein.PartResult, Result: res}
}
