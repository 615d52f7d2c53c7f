package transcript

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/render"
)

// called is a call, and the last seq of what belongs to it.
type called struct {
	*call
	end skein.Seq
}

// call shows a tool call with its result.
func (t *transcriber) call(e *skein.Entry, p *skein.Part) called {
	c, state := p.Call, t.states[p.Call.ID]
	out := called{call: &call{
		ID: c.ID, Seq: e.Seq, Name: render.Line(c.Name), Gist: render.Gist(c.Input), Title: render.Line(state.Title),
		State: string(state.State), Start: state.Start, Took: took(state.Start, state.End),
	}}
	if out.Start == 0 {
		out.Start = p.Start
	}
	t.input(out.call, c)
	a := t.answers[c.ID]
	if c.ID != "" && a != nil && !a.taken && a.seq >= e.Seq {
		a.taken = true
		out.end = a.end
		t.output(out.call, a.result)
		if out.Anchors = nil; a.seq != e.Seq {
			out.Anchors = []skein.Seq{a.seq}
		}
		if out.Took == "" {
			out.Took = took(p.Start, p.End)
		}
		out.State = string(render.CallState(state.State, a.result))
	}
	if out.State == "" {
		out.State = string(render.Open)
		switch {
		case slices.Contains(t.Session.Open, c.ID):
			out.State = string(skein.Running)
		case t.Working && e.Turn == t.Session.Ever().Turns:
			out.State = string(skein.Pending) // it may be waiting for permission
		}
	}
	if out.State == string(skein.Running) && t.Session.LeftRunning() {
		out.State = string(skein.Uncertain)
	}
	out.Class = stateClass(out.State)
	out.Child = t.child(c.ID, state.Child)
	return out
}

// orphan shows a result whose call is not on the page.
func (t *transcriber) orphan(e *skein.Entry, r *skein.Result) *call {
	out := &call{ID: r.CallID, Seq: e.Seq, Name: render.Line(cmp.Or(r.Name, "tool")), State: string(skein.Completed)}
	if r.Failed {
		out.State = string(skein.Failed)
	}
	out.Class = stateClass(out.State)
	t.output(out, r)
	return out
}

func stateClass(state string) string {
	switch skein.CallState(state) {
	case skein.Completed:
		return "good"
	case skein.Failed:
		return "bad"
	case skein.Running, skein.Pending, skein.Uncertain:
		return "warn"
	}
	return ""
}

// child returns the session that a call started; nil if there is none.
func (t *transcriber) child(callID string, id skein.SessionID) *child {
	if c, ok := t.children[callID]; ok && callID != "" {
		return &child{ID: c.ID, Name: render.Line(c.Name()), Messages: c.Messages, Known: true}
	}
	if id == "" {
		return nil
	}
	return &child{ID: id, Name: render.Line(string(id))}
}

// input shows the input of a call.
func (t *transcriber) input(out *call, c *skein.Call) {
	fields := render.Fields(c.Input)
	for _, p := range editsIn(c.Input) {
		code, rest := t.code("diff", lineDiff(p.was, p.is))
		out.Long = append(out.Long, field{Name: "change", Code: code, Diff: true, Rest: rest})
		fields = slices.DeleteFunc(fields, func(f render.InputField) bool { return f.Name == p.from || f.Name == p.to || f.Name == "edits" })
	}
	language := languageOf(fields)
	for _, f := range fields {
		if !f.Long && f.Name != "" {
			out.Short = append(out.Short, field{Name: render.Line(f.Name), Value: f.Value})
			continue
		}
		as := ""
		switch {
		case f.JSON:
			as = "json"
		case slices.Contains([]string{"command", "cmd", "script"}, f.Name):
			as = "sh"
		case slices.Contains([]string{"content", "contents", "file_text", "text", "new_source"}, f.Name):
			as = language
		}
		code, rest := t.code(as, f.Value)
		out.Long = append(out.Long, field{Name: render.Line(f.Name), Code: code, Rest: rest})
	}
}

// languageOf returns the language of the file that a tool's input names.
func languageOf(fields []render.InputField) string {
	for _, f := range fields {
		if slices.Contains([]string{"file_path", "filePath", "path", "file", "filename", "target_file", "notebook_path"}, f.Name) && !f.Long {
			return strings.TrimPrefix(path.Ext(f.Value), ".")
		}
	}
	return ""
}

// swap is a replacement of a piece of text by a tool.
type swap struct{ from, to, was, is string }

// editsIn returns the edits in a tool's input, by the field names that agents
// use.
func editsIn(input json.RawMessage) (all []swap) {
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil {
		return nil
	}
	for _, names := range [][2]string{{"old_string", "new_string"}, {"old_str", "new_str"}, {"oldText", "newText"}, {"oldString", "newString"}, {"old_text", "new_text"}, {"old", "new"}} {
		was, ok := skein.Unquote(object[names[0]])
		is, ok2 := skein.Unquote(object[names[1]])
		if ok && ok2 {
			all = append(all, swap{names[0], names[1], skein.Text(was).UTF8(), skein.Text(is).UTF8()})
		}
	}
	var inner []json.RawMessage
	if json.Unmarshal(object["edits"], &inner) == nil {
		for _, e := range inner[:min(len(inner), 100)] {
			all = append(all, editsIn(e)...)
		}
	}
	return all
}

// output shows the result of a call.
func (t *transcriber) output(out *call, r *skein.Result) {
	words := r.Text.UTF8()
	out.Extent = extent(words)
	if words != "" {
		code, rest := t.code("", words)
		out.Output = append(out.Output, field{Code: code, Rest: rest})
	}
	if len(r.Raw) > 0 {
		code, rest := t.code("json", string(r.Raw))
		out.Output = append(out.Output, field{Name: "more", Code: code, Rest: rest})
	}
	for i := range r.Files {
		out.Images = append(out.Images, t.file(&r.Files[i]))
	}
}

// lineDiff returns the changes between two texts, as a patch without line
// numbers: lines that begin with a space, - or +.
func lineDiff(was, is string) string {
	var out strings.Builder
	edits.Diff(edits.Lines(was), edits.Lines(is), func(m edits.Sign, lines []string) {
		for _, l := range lines {
			out.WriteString(string(m) + l + "\n")
		}
	})
	return out.String()
}
