package openaiagents

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// maxTools is the number of calls whose tool a reader remembers: more than ever wait
// for an answer.
const maxTools = 10000

// calls returns a call.
func (r *reader) calls(id, name string, input jsontext.Value) skein.Part {
	if len(r.tools) < maxTools {
		r.tools[id] = name
	}
	c := &skein.Call{ID: id, Name: name}
	if string(input) != `""` {
		c.Input = loose.Inner(input)
	}
	return skein.Part{Kind: skein.PartCall, Call: c}
}

// call returns an item as a call. One without a name is named by its type, and its
// input is the rest of the item.
func (r *reader) call(kind string, o loose.Object) skein.Part {
	id, name := o.Str("call_id", "id"), o.Str("name")
	if name == "" {
		name = strings.TrimSuffix(kind, "_call")
	}
	if space := o.Str("namespace"); space != "" {
		name = space + "." + name
	}
	for _, field := range []string{"arguments", "input", "action", "actions", "operation", "code", "queries"} {
		if v := o.Get(field); !loose.IsNull(v) {
			return r.calls(id, name, v)
		}
	}
	return r.calls(id, name, o.Without("type", "id", "call_id", "name", "status", "output", "outputs", "result", "results", "error"))
}

// hosted reports whether the provider ran a call: its item has the result.
func hosted(kind string) bool {
	switch kind {
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools":
		return true
	}
	return false
}

// hosted reads a call and its result.
func (r *reader) hosted(m *interop.Made, branch string, at skein.Time, kind string, o loose.Object) []event {
	p := r.call(kind, o)
	if label := o.Str("server_label"); label != "" {
		p.Call.Name = label + "." + p.Call.Name
	}
	all := r.model(m, branch, at, said{parts: []skein.Part{p}}, o)
	res := &skein.Result{CallID: p.Call.ID, Name: p.Call.Name, Failed: o.Str("status") == "failed" || !loose.IsNull(o.Get("error"))}
	delete(r.tools, p.Call.ID)
	var s said
	switch {
	case kind == "image_generation_call":
		if f, blob := loose.Attach("", "image/png", o.Str("result")); f != nil && blob != nil {
			res.Files, s.blobs = append(res.Files, *f), append(s.blobs, *blob)
		}
	case o.Str("output") != "":
		text, _ := o.Text("output")
		res.Text = skein.Text(text)
	default:
		for _, field := range []string{"error", "output", "outputs", "results", "tools"} {
			if v := o.Get(field); !loose.IsNull(v) {
				res.Raw = loose.Raw(v)
				break
			}
		}
	}
	r.regroup(branch, group{})
	return append(all, event{skein.Say(at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}), s.blobs})
}

// result fills in a tool's result: its texts joined, and files; the unchanged result
// if it has anything else.
func (s *said) result(res *skein.Result, o loose.Object, kind string) {
	v := o.Get("output")
	switch kind {
	case "tool", "function": // of the Chat Completions API
		v = o.Get("content")
	case "mcp_approval_response":
		v = o.Without("type", "id", "approval_request_id")
	}
	res.Failed = o.Str("status") == "failed" || kind == "mcp_approval_response" && !o.Yes("approve")
	if v.Kind() == '{' {
		in, _ := loose.Parse(v) // it is an object
		if f := s.file(in); f != nil {
			res.Files = append(res.Files, *f)
			return
		}
		res.Raw = loose.Raw(v)
		return
	}
	var parts said
	parts.content(v)
	var texts []string
	for _, p := range parts.parts {
		switch p.Kind {
		case skein.PartText:
			texts = append(texts, string(p.Text))
		case skein.PartFile:
			res.Files = append(res.Files, *p.File)
		default:
			res.Raw = loose.Raw(v)
		}
	}
	s.blobs = append(s.blobs, parts.blobs...)
	res.Text = skein.Text(strings.Join(texts, "\n"))
}
