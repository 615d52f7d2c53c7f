package agentuse

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// Parts as they are written, in the program's order.
type (
	textOut struct {
		Type string     `json:"type"`
		Text skein.Text `json:"text"`
		Role string     `json:"role,omitempty"`
		Syn  bool       `json:"synthetic,omitempty"`
		Time spanOut    `json:"time"`
		baseOut
	}
	toolOut struct {
		Type  string   `json:"type"`
		Call  string   `json:"callID"`
		Tool  string   `json:"tool"`
		State stateOut `json:"state"`
		baseOut
	}
	stateOut struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output json.RawMessage `json:"output,omitempty"`
		Error  *skein.Text     `json:"error,omitempty"`
		Title  skein.Text      `json:"title,omitempty"`
		Meta   json.RawMessage `json:"metadata,omitempty"`
		Time   spanOut         `json:"time"`
	}
	failureOut struct {
		Type    string     `json:"type"`
		Source  string     `json:"source"`
		Code    string     `json:"code,omitempty"`
		Message skein.Text `json:"message"`
		Status  int        `json:"statusCode,omitempty"`
		Time    struct {
			Start int64 `json:"start"`
		} `json:"time"`
		baseOut
	}
	spanOut struct {
		Start int64 `json:"start"`
		End   int64 `json:"end"`
	}
	baseOut struct {
		ID      string `json:"id"`
		Session string `json:"sessionID"`
		Message string `json:"messageID"`
	}
)

// entry writes a message.
func (w *writer) entry(e *skein.Entry) {
	m := &e.Message
	w.at = max(w.at, e.Time)
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil:
			w.call(e, p.Call)
		case p.Result != nil:
			w.unpaired(e, p.Result)
		case p.Kind == skein.PartReasoning:
			if len(p.Raw) > 0 {
				w.losses.Add(e.Seq, "reasoning: what only its provider can read")
			}
			if p.Text != "" {
				w.part(e, textOut{Type: "reasoning", Text: p.Text})
			}
		case p.File != nil:
			w.losses.Add(e.Seq, "files: left out")
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
			w.text(e, p)
		default:
			w.losses.Add(e.Seq, "parts of other kinds: left out")
		}
	}
	if m.Error != nil && m.Error != w.failed && w.some {
		out := failureOut{Type: "error", Source: "agent", Code: m.Error.Kind, Message: skein.Text(m.Error.Message), Status: m.Error.Status, baseOut: w.base()}
		out.Time.Start = int64(w.at)
		w.put(out.ID, out, e.End)
	}
}

// text writes a text. The first prompt is the task, and system text before it is the
// system prompt.
func (w *writer) text(e *skein.Entry, p *skein.Part) {
	switch e.Message.Role {
	case skein.RoleAssistant:
		w.part(e, textOut{Type: "text", Text: p.Text})
		return
	case skein.RoleSystem:
		if !w.some && w.fresh() {
			w.system, w.asked = append(w.system, p.Text), max(w.asked, e.End)
		} else {
			w.losses.Add(e.Seq, "system messages amid the others: left out")
		}
		return
	case skein.RoleTool:
		w.losses.Add(e.Seq, "parts of other kinds: left out")
		return
	case skein.RoleSteer:
		w.losses.Add(e.Seq, "steering: a user's message")
	}
	if w.fresh() && (!w.some || w.asked == e.End && len(w.parts) == 0) {
		w.some, w.asked = true, max(w.asked, e.End)
		if w.task = append(w.task, string(p.Text)); len(w.task) > 2 {
			w.losses.Add(e.Seq, "pieces of the first prompt: one text")
		}
		return
	}
	w.part(e, textOut{Type: "text", Text: p.Text, Role: "user", Syn: e.Message.Synthetic || p.Synthetic})
}

// part writes a text.
func (w *writer) part(e *skein.Entry, t textOut) {
	t.baseOut = w.base()
	t.Time = spanOut{int64(w.at), int64(w.at)}
	w.put(t.ID, t, e.End)
}

// base gives a part its ULID.
func (w *writer) base() baseOut {
	w.some = true
	w.n++
	if w.n == 0 { // as many as one millisecond can hold
		w.at++
	}
	return baseOut{ulid(w.at, w.n, w.id), w.id, w.message}
}

func (w *writer) put(id string, v any, seq skein.Seq) {
	w.parts = append(w.parts, w.file(w.message+"/part/"+id+".json", indent(v), seq))
}

// call writes a call with its result.
func (w *writer) call(e *skein.Entry, c *skein.Call) {
	out := toolOut{Type: "tool", Call: c.ID, Tool: c.Name, State: stateOut{Input: c.Input, Time: spanOut{int64(w.at), int64(w.at)}}}
	if len(out.State.Input) == 0 {
		out.State.Input = json.RawMessage("{}")
	}
	seq := e.End
	did := w.calls[c.ID]
	switch {
	case did == nil:
		w.losses.Add(e.Seq, "calls without a result: as interrupted")
		text := w.d.Unanswered(e, c.ID)
		out.State.Status, out.State.Error = "error", &text
	default:
		out.State.took(did.result)
	}
	if did != nil {
		seq = max(seq, did.seq)
		out.State.Time.End = max(int64(did.at), int64(w.at))
		if len(did.result.Files) > 0 {
			w.losses.Add(e.Seq, "files: left out")
		}
	}
	out.baseOut = w.base()
	w.put(out.ID, out, seq)
	if did != nil {
		did.told = true
	}
}

// unpaired notes a result that is not written with its call.
func (w *writer) unpaired(e *skein.Entry, r *skein.Result) {
	switch did := w.calls[r.CallID]; {
	case did.result != r:
		w.losses.Add(e.Seq, "a second result of a call: left out")
	case !did.told && !w.answered(e, r):
		w.losses.Add(e.Seq, "results whose call is not written: left out")
	}
}
