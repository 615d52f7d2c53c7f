package transcript

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
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
		out.State = string(render.CallState(state.State, a.result))
		t.output(out.call, a.result)
		if out.Anchors = nil; a.seq != e.Seq {
			out.Anchors = []skein.Seq{a.seq}
		}
		if out.Took == "" {
			out.Took = took(p.Start, p.End)
		}
		if out.Took == "" && a.seq != e.Seq {
			out.Took = took(e.Time, a.time) // another program kept only when each was written
		}
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
	if out.Class = stateClass(out.State); out.Fell() && out.Class == "good" {
		out.Class = "warn"
	}
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
	if id == "" || t.Apart {
		return nil
	}
	return &child{ID: id, Name: render.Line(string(id))}
}

// input shows the input of a call: what is drawn by its kind, and its other fields.
func (t *transcriber) input(out *call, c *skein.Call) {
	fields := slices.DeleteFunc(render.Fields(c.Input), t.draw(out, c))
	language := ""
	if len(fields) > 0 {
		language = languageOf(pathIn(fields))
	}
	for _, f := range fields {
		if !f.Long && f.Name != "" {
			out.Short = append(out.Short, field{Name: render.Line(f.Name), Value: f.Value})
			continue
		}
		if out.Kind == agentCall && !f.JSON && !t.plain {
			html, rest := t.asideProse(&skein.Message{Role: skein.RoleAssistant}, f.Value)
			out.Long = append(out.Long, field{Name: render.Line(f.Name), Prose: html, Rest: rest})
			continue
		}
		as := ""
		switch {
		case f.JSON:
			as = "json"
		case slices.Contains([]string{"content", "contents", "file_text", "text", "new_source"}, f.Name):
			as = language
		}
		code, rest := t.asideCode(as, f.Value)
		out.Long = append(out.Long, field{Name: render.Line(f.Name), Code: code, Rest: rest})
	}
}

// pathIn returns the path of the file that a tool's input names.
func pathIn(fields []render.InputField) string {
	for _, f := range fields {
		if slices.Contains([]string{"file_path", "filePath", "path", "file", "filename", "target_file", "notebook_path"}, f.Name) && !f.Long {
			return f.Value
		}
	}
	return ""
}

// languageOf returns the language of the file at a path, by its name.
func languageOf(file string) string { return strings.TrimPrefix(path.Ext(file), ".") }

// output shows the result of a call.
func (t *transcriber) output(out *call, r *skein.Result) {
	words := t.outcome(out, r.Text.UTF8())
	if out.Extent = extent(words); words != "" && !out.Told {
		f := field{}
		if out.Kind == agentCall || out.Kind == webCall {
			f.Prose, f.Rest = t.asideProse(&skein.Message{Role: skein.RoleAssistant}, words)
		} else {
			f.Code, f.Rest = t.asideCode(languageOf(out.path), words)
		}
		out.Output = append(out.Output, f)
	}
	if len(r.Raw) > 0 {
		code, rest := t.asideCode("json", string(r.Raw))
		out.Output = append(out.Output, field{Name: "more", Code: code, Rest: rest})
	}
	for i := range r.Files {
		out.Images = append(out.Images, t.file(&r.Files[i]))
	}
}
