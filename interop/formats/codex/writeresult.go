package codex

import (
	"encoding/json"
	"net/url"
	"strings"

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
func (cs *calls) results(e *skein.Entry) error {
	for i, p := range e.Message.Parts {
		r := p.Result
		if r == nil {
			cs.lose(e.Seq, string(p.Kind)+" in a tool's message: left out")
			continue
		}
		if err := cs.result(e, r, p.Meta, i); err != nil {
			return err
		}
	}
	return nil
}

func (cs *calls) result(e *skein.Entry, r *skein.Result, meta json.RawMessage, n int) error {
	c := cs.waiting[r.CallID]
	delete(cs.waiting, r.CallID)
	cs.some = true
	switch {
	case c == nil || c.form == asText:
		cs.writeTextResult(e, r, n)
		return nil
	case c.form == asHosted:
		return cs.hosted(e, c, r)
	case c.form == asSearch && jsontext.Value(r.Raw).Kind() == '[':
		cs.item(e.Time, foundOut{"tool_search_output", c.id, "completed", "client", r.Raw})
		return nil
	}
	out, err := cs.outputOf(e, r, meta)
	if err != nil {
		return err
	}
	if c.same != nil && c.same.exec != nil && cs.file.counted {
		cs.ran(e, c, r)
	}
	switch text, is := out.(string); {
	case c.same == nil && r.Failed && !cs.ours[e.Seq]:
		cs.lose(e.Seq, "failure of a tool: only its text says so")
	case c.same == nil:
	case c.same.patch != "":
		cs.patched(e, c, r)
	case is && r.Failed && !cs.ours[e.Seq] && !saysFailed(text):
		out = "Process exited with code 1\nOutput:\n" + text
	}
	typ := "function_call_output"
	if c.form == asCustom {
		typ = "custom_tool_call_output"
	}
	cs.item(e.Time, outputOut{typ, c.id, out})
	return nil
}

// saysFailed reports whether the output itself says that its command failed.
func saysFailed(text string) bool {
	var r skein.Result
	shell(&r, text)
	return r.Failed
}

// writeTextResult writes the result of a call that was written as text.
func (cs *calls) writeTextResult(e *skein.Entry, r *skein.Result, n int) {
	verb := "answered"
	if r.Failed {
		verb = "failed"
	}
	text := r.Text.UTF8()
	if text == "" && r.Raw != nil {
		text = utf8(string(r.Raw))
	}
	if len(r.Files) > 0 {
		cs.lose(e.Seq, "file in a tool's result: left out")
	}
	cs.messages.said(e, "[The tool "+utf8(first(r.Name, r.CallID))+" "+verb+": "+text+"]", itemMeta{}, n)
}

// outputOf returns a tool's result: a string, or a list if it has images.
func (cs *calls) outputOf(e *skein.Entry, r *skein.Result, meta json.RawMessage) (any, error) {
	if jsontext.Value(r.Raw).Kind() == '[' && cs.ours[e.Seq] {
		return r.Raw, nil
	}
	text := r.Text.UTF8()
	if len(r.Files) == 0 {
		switch {
		case text == "" && r.Raw != nil:
			return utf8(string(r.Raw)), nil
		case cs.ours[e.Seq] && isObject(meta):
			return string(skein.MustJSON(shellOutputOut{text, meta})), nil
		}
		return text, nil
	}
	var all []any
	if text != "" {
		all = append(all, textOut{"input_text", text})
	}
	for i := range r.Files {
		f, err := cs.messages.attached(e.Seq, &r.Files[i])
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
func (cs *calls) patched(e *skein.Entry, c *wrote, r *skein.Result) {
	if cs.file.counted {
		return
	}
	out := patchedOut{Type: "patch_apply_end", Call: c.id, Turn: cs.messages.turn.id, Success: !r.Failed, Changes: c.same.changes, Status: "completed"}
	if out.Stdout = r.Text.UTF8(); r.Failed {
		out.Stdout, out.Stderr, out.Status = "", out.Stdout, "failed"
	}
	cs.show(e.Time, out)
}

type ranItemOut struct {
	Type     string   `json:"type"` // CommandExecution
	ID       string   `json:"id"`
	Command  []string `json:"command"`
	Cwd      string   `json:"cwd"` // a URL
	Parsed   []string `json:"parsed_cmd"`
	Source   string   `json:"source"`
	Status   string   `json:"status"`
	Output   string   `json:"aggregated_output"`
	Exit     int      `json:"exit_code"`
	Duration duration `json:"duration"`
}

type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

// maxShown is how much of an output is sent to the screen, in bytes.
const maxShown = 10_000

// ran reports a command to the screen. Its exit code is 1 if it is only known that it
// failed.
func (cs *calls) ran(e *skein.Entry, c *wrote, r *skein.Result) {
	cwd := first(c.same.exec.Workdir, first(cs.d.Session.Cwd, cs.d.Session.Project))
	if !strings.HasPrefix(cwd, "/") {
		return
	}
	all := r.Text.UTF8()
	out := ranItemOut{
		Type: "CommandExecution", ID: c.id, Command: []string{"/bin/sh", "-lc", c.same.exec.Cmd}, Cwd: (&url.URL{Scheme: "file", Path: utf8(cwd)}).String(),
		Parsed: []string{}, Source: "unified_exec_startup", Status: "completed", Output: strings.ToValidUTF8(all[:min(len(all), maxShown)], ""),
	}
	if r.Failed {
		out.Exit, out.Status = 1, "failed"
	}
	cs.messages.turn.completed(e.Time, out)
}
