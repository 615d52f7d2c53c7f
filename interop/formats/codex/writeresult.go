package codex

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
)

type outputOut struct {
	Type   string `json:"type"` // function_call_output or custom_tool_call_output
	Call   string `json:"call_id"`
	Output any    `json:"output"`
}

type foundOut struct {
	Type      string          `json:"type"` // tool_search_output
	Call      string          `json:"call_id"`
	Status    string          `json:"status"`
	Execution string          `json:"execution"`
	Tools     json.RawMessage `json:"tools"`
}

// results writes the results of tools.
func (w *writer) results(e *skein.Entry) error {
	for i, p := range e.Message.Parts {
		r := p.Result
		if r == nil {
			w.lose(e.Seq, string(p.Kind)+" in a tool's message: left out")
			continue
		}
		if err := w.result(e, r, p.Meta, i); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) result(e *skein.Entry, r *skein.Result, meta json.RawMessage, n int) error {
	c := w.calls[r.CallID]
	delete(w.calls, r.CallID)
	w.some = true
	switch {
	case c == nil || c.form == asText:
		w.told(e, r, n)
		return nil
	case c.form == asHosted:
		return w.hosted(e, c, r)
	case c.form == asSearch && jsontext.Value(r.Raw).Kind() == '[':
		w.item(e.Time, foundOut{"tool_search_output", c.id, "completed", "client", r.Raw})
		return nil
	}
	out, err := w.output(e, r, meta)
	if err != nil {
		return err
	}
	if c.same != nil && c.same.exec != nil && w.file.counted {
		w.ran(e, c, r)
	}
	switch text, is := out.(string); {
	case c.same == nil && r.Failed && !w.ours[e.Seq]:
		w.lose(e.Seq, "failure of a tool: only its text says so")
	case c.same == nil:
	case c.same.patch != "":
		w.patched(e, c, r)
	case is && r.Failed && !w.ours[e.Seq] && !saysFailed(text):
		out = "Process exited with code 1\nOutput:\n" + text
	}
	typ := "function_call_output"
	if c.form == asCustom {
		typ = "custom_tool_call_output"
	}
	w.item(e.Time, outputOut{typ, c.id, out})
	return nil
}

// saysFailed reports whether the output itself says that its command failed.
func saysFailed(text string) bool {
	var r skein.Result
	shell(&r, text)
	return r.Failed
}

// told writes the result of a call that was written as text.
func (w *writer) told(e *skein.Entry, r *skein.Result, n int) {
	verb := "answered"
	if r.Failed {
		verb = "failed"
	}
	text := r.Text.UTF8()
	if text == "" && r.Raw != nil {
		text = utf8(string(r.Raw))
	}
	if len(r.Files) > 0 {
		w.lose(e.Seq, "file in a tool's result: left out")
	}
	w.said(e, "[The tool "+utf8(first(r.Name, r.CallID))+" "+verb+": "+text+"]", itemMeta{}, n)
}

// output returns a tool's result: a string, or a list if it has images.
func (w *writer) output(e *skein.Entry, r *skein.Result, meta json.RawMessage) (any, error) {
	if jsontext.Value(r.Raw).Kind() == '[' && w.ours[e.Seq] {
		return r.Raw, nil
	}
	text := r.Text.UTF8()
	if len(r.Files) == 0 {
		switch {
		case text == "" && r.Raw != nil:
			return utf8(string(r.Raw)), nil
		case w.ours[e.Seq] && isObject(meta):
			return string(skein.MustJSON(shellOutputOut{text, meta})), nil
		}
		return text, nil
	}
	var all []any
	if text != "" {
		all = append(all, textOut{"input_text", text})
	}
	for i := range r.Files {
		f, err := w.attached(e.Seq, &r.Files[i])
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

type shellOutputOut struct {
	Output   string          `json:"output"`
	Metadata json.RawMessage `json:"metadata"`
}

// A patchedOut reports to the screen that files were changed.
type patchedOut struct {
	Type    string               `json:"type"` // patch_apply_end
	Call    string               `json:"call_id"`
	Turn    string               `json:"turn_id"`
	Stdout  string               `json:"stdout"`
	Stderr  string               `json:"stderr"`
	Success bool                 `json:"success"`
	Changes map[string]changeOut `json:"changes"` // by path
	Status  string               `json:"status"`
}

// A changeOut is the change of a file.
type changeOut struct {
	Type    string  `json:"type"` // add or update
	Content *string `json:"content,omitempty"`
	Diff    *string `json:"unified_diff,omitempty"`
}

// patched reports a patch to the screen.
func (w *writer) patched(e *skein.Entry, c *wrote, r *skein.Result) {
	if w.file.counted {
		return
	}
	out := patchedOut{Type: "patch_apply_end", Call: c.id, Turn: w.turn, Success: !r.Failed, Changes: c.same.changes, Status: "completed"}
	if out.Stdout = r.Text.UTF8(); r.Failed {
		out.Stdout, out.Stderr, out.Status = "", out.Stdout, "failed"
	}
	w.show(e.Time, out)
}
