package codex

import (
	"encoding/json"
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

// results writes what tools answered.
func (w *writer) results(e *skein.Entry) error {
	for i, p := range e.Message.Parts {
		r := p.Result
		if r == nil {
			w.losses.Add(e.Seq, string(p.Kind)+" in a tool's message: left out")
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
	if c.cmd != nil {
		w.ran(e, c, r)
	} else if r.Failed && e.Seq > w.born {
		w.losses.Add(e.Seq, "failure of a tool: only its text tells")
	}
	typ := "function_call_output"
	if c.form == asCustom {
		typ = "custom_tool_call_output"
	}
	w.item(e.Time, outputOut{typ, c.id, out})
	return nil
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
		w.losses.Add(e.Seq, "file in a tool's result: left out")
	}
	w.said(e, "[The tool "+utf8(first(r.Name, r.CallID))+" "+verb+": "+text+"]", itemMeta{}, n)
}

// output returns what a tool answered: a string, or a list where there are
// pictures in it.
func (w *writer) output(e *skein.Entry, r *skein.Result, meta json.RawMessage) (any, error) {
	if jsontext.Value(r.Raw).Kind() == '[' && e.Seq <= w.born {
		return r.Raw, nil
	}
	text := r.Text.UTF8()
	if len(r.Files) == 0 {
		switch {
		case text == "" && r.Raw != nil:
			return utf8(string(r.Raw)), nil
		case e.Seq <= w.born && isObject(meta):
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

// A ranOut tells the screen that a command has run.
type ranOut struct {
	Type      string   `json:"type"` // exec_command_end
	Call      string   `json:"call_id"`
	Turn      string   `json:"turn_id"`
	Command   []string `json:"command"`
	Cwd       string   `json:"cwd"`
	Parsed    []string `json:"parsed_cmd"`
	Source    string   `json:"source"`
	Stdout    string   `json:"stdout"`
	Stderr    string   `json:"stderr"`
	All       string   `json:"aggregated_output"`
	Exit      int      `json:"exit_code"`
	Duration  duration `json:"duration"`
	Formatted string   `json:"formatted_output"`
	Status    string   `json:"status"`
}

type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}

// maxShown is how much of an output the screen is told, in bytes, as Codex does
// it.
const maxShown = 10_000

// ran tells the screen of a command. The code is 1 where all that is known is
// that it failed.
func (w *writer) ran(e *skein.Entry, c *wrote, r *skein.Result) {
	cwd := first(c.cmd.Workdir, first(w.d.Session.Cwd, w.d.Session.Project))
	if w.file.counted || !strings.HasPrefix(cwd, "/") {
		return
	}
	out := ranOut{
		Type: "exec_command_end", Call: c.id, Turn: w.turn, Command: []string{"/bin/sh", "-lc", c.cmd.Cmd}, Cwd: utf8(cwd),
		Parsed: []string{}, Source: "unified_exec_startup", Status: "completed",
	}
	all := r.Text.UTF8()
	out.All = strings.ToValidUTF8(all[:min(len(all), maxShown)], "")
	if r.Failed {
		out.Exit, out.Status = 1, "failed"
	}
	w.show(e.Time, out)
}
