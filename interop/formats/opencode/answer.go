package opencode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// answer writes what a model said, with the results of its calls.
func (w *writer) answer(e *skein.Entry) {
	m := &e.Message
	u, reported := w.charges.used(e)
	id, at := w.answered(e, u)
	w.part(e.Seq, id, at, markOut{"step-start"})
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil:
			w.calls.call(e, p.Call, id, at)
		case p.Kind == skein.PartReasoning:
			if len(p.Raw) > 0 {
				w.losses.Add(e.Seq, "reasoning: what only its provider can read")
			}
			if p.Text != "" || len(p.Raw) == 0 {
				w.part(e.Seq, id, at, textOut{Type: "reasoning", Text: p.Text, Time: spanOf(p, at)})
			}
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
			w.part(e.Seq, id, at, textOut{Type: "text", Text: p.Text, Synthetic: p.Synthetic, Time: spanOf(p, at)})
		case p.File != nil:
			if f, ok := w.file(e, p.File); ok {
				w.part(e.Seq, id, at, f)
			}
		default:
			w.losses.Add(e.Seq, "parts of other kinds: left out")
		}
	}
	if reported {
		w.part(e.End, id, at, finishOut{finishOf(m), "step-finish", tokensOf(u), float64(u.Reported) / 1e9})
	}
	w.cover(e.End)
}

// answered adds the row of a model's message.
func (w *writer) answered(e *skein.Entry, u skein.Usage) (id string, at skein.Time) {
	m := &e.Message
	if w.user == "" { // the message being answered must exist
		of, at := w.asked(e.Seq, e.Time)
		w.part(e.Seq, of, at, textOut{Type: "text", Synthetic: true})
	}
	return w.message(e.Seq, e.Time, func(at skein.Time) any {
		out := answerOut{
			Parent: w.user, Role: "assistant", Mode: agentName, Agent: agentName, Path: pathOut{w.folder(), w.root()},
			Cost: float64(u.Reported) / 1e9, Tokens: tokensOf(u), Time: timeOut{int64(at), int64(max(at, w.calls.ended(e)))},
		}
		if out.Provider, out.Model = w.modelOf(m.Provider, m.Model); out.Model == "" {
			out.Provider, out.Model = "unknown", "unknown"
		}
		out.Finish = finishOf(m)
		if m.Error != nil || m.Interrupted {
			out.Finish, out.Error = "", &errorOut{Name: "UnknownError"}
			if m.Interrupted {
				out.Error.Name = "MessageAbortedError"
			}
			if out.Error.Data.Message = "broken off"; m.Error != nil {
				out.Error.Data.Message = m.Error.Message
			}
		}
		return out
	})
}

// ended returns when the last tool of a message ended, 0 if it called none.
func (cs *calls) ended(e *skein.Entry) (at skein.Time) {
	for _, p := range e.Message.Parts {
		if p.Call != nil && cs.outs[p.Call.ID] != nil {
			at = max(at, cs.outs[p.Call.ID].entry.Time)
		}
	}
	return at
}

func (o *output) root() string {
	if o.d.Session.Project != "" {
		return o.d.Session.Project
	}
	return o.folder()
}

func finishOf(m *skein.Message) string {
	if slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Call != nil }) {
		return "tool-calls"
	}
	return "stop"
}

func spanOf(p *skein.Part, at skein.Time) *spanOut {
	s := spanOut{int64(at), int64(at)}
	if p.Start != 0 {
		s = spanOut{int64(p.Start), int64(max(p.Start, p.End))}
	}
	return &s
}

// used returns the usage of an answer's requests, and whether it is known.
func (ch *charges) used(e *skein.Entry) (u skein.Usage, known bool) {
	if e.Message.Usage != nil {
		u, known = *e.Message.Usage, true
	} else {
		for _, s := range ch.steps[e.Seq] {
			u, known = u.Plus(*s.Usage), true
		}
	}
	ch.spent = ch.spent.Plus(u)
	return u, known
}

// call writes a call with its outcome: as a call if opencode has such a tool, else as
// text.
func (cs *calls) call(e *skein.Entry, c *skein.Call, of string, at skein.Time) {
	did := cs.outs[c.ID]
	if did != nil {
		did.told = true
	}
	name, input, ok := c.Name, c.Input, cs.ours
	if !ok {
		if name, input, ok = toolOf(c); ok && (name != c.Name || !bytes.Equal(input, c.Input)) {
			cs.losses.Add(e.Seq, "names of tools, and of what they take: those of opencode's")
		}
	}
	seq := e.Seq
	if did != nil {
		seq = max(seq, did.entry.End)
	}
	if o := asObject(input); ok && o != nil {
		cs.part(seq, of, at, cs.tool(e, c, did, name, o, at))
		return
	}
	cs.losses.Add(e.Seq, "calls of tools that opencode does not have: as text")
	cs.part(seq, of, at, textOut{Type: "text", Text: inWords(c, did), Time: &spanOut{int64(at), int64(at)}})
}

// asObject returns an input if it is a JSON object, an empty one for none.
func asObject(in json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	switch {
	case len(in) == 0:
		return json.RawMessage("{}")
	case json.Unmarshal(in, &o) != nil || o == nil:
		return nil
	}
	return in
}

func (cs *calls) tool(e *skein.Entry, c *skein.Call, did *callOut, name string, input json.RawMessage, at skein.Time) toolOut {
	out := toolOut{Type: "tool", Tool: name, Call: c.ID, State: stateOut{Input: input, Time: spanOut{int64(at), int64(at)}}}
	s := &out.State
	if did == nil {
		cs.losses.Add(e.Seq, "calls without a result: as interrupted")
		text := cs.d.Unanswered(e, c.ID)
		s.Status, s.Error = "error", &text
		return out
	}
	s.Time.End = int64(max(at, did.entry.Time))
	r := did.result
	if r.Failed {
		s.Status, s.Error = "error", &r.Text
		if len(r.Files) > 0 {
			cs.losses.Add(e.Seq, "files of a tool that failed: left out")
		}
		return out
	}
	title, text := "", r.Text
	if text == "" && len(r.Raw) > 0 {
		text = skein.Text(r.Raw)
		cs.losses.Add(e.Seq, "output of tools that is not text: as text")
	}
	s.Status, s.Output, s.Title, s.Metadata = "completed", &text, &title, json.RawMessage("{}")
	for i := range r.Files {
		f, ok := cs.file(e, &r.Files[i])
		if !ok {
			continue
		}
		cs.n = (cs.n + 1) & idBits
		f.ID, f.Session, f.Message = partID(cs.n, cs.id), cs.id, messageID(cs.n, cs.id)
		s.Files = append(s.Files, f)
	}
	return out
}

// inWords returns a text about a call and its outcome.
func inWords(c *skein.Call, did *callOut) skein.Text {
	text := fmt.Sprintf("[opencode has no tool %s. It was called with:\n%s\n", c.Name, c.Input)
	switch {
	case did == nil:
		text += "and had not ended.]"
	case did.result.Failed:
		text += "and failed:\n" + string(did.result.Text) + "]"
	case did.result.Text == "" && len(did.result.Raw) > 0:
		text += "and answered:\n" + string(did.result.Raw) + "]"
	default:
		text += "and answered:\n" + string(did.result.Text) + "]"
	}
	return skein.Text(text)
}
