package atif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// message makes the step of a message, and adds results to the steps of their calls.
func (w *writer) message(en *skein.Entry) {
	m := &en.Message
	s := stepOut{Time: stamp(en.Time), Source: "user"}
	var extra saidOut
	switch m.Role {
	case skein.RoleAssistant:
		s.Source, s.Model = "agent", m.Model
	case skein.RoleSystem:
		s.Source = "system"
	case skein.RoleSteer:
		extra.Role = string(m.Role)
	}
	extra.Provider, extra.Stop, extra.Synthetic, extra.Interrupted, extra.Error = m.Provider, m.Stop, m.Synthetic, m.Interrupted, m.Error
	if m.Provider == w.d.Session.Provider {
		extra.Provider = ""
	}
	w.parts(en, &s)
	if s.Message != nil || s.Source == "agent" || s.Calls != nil {
		if s.Message == nil {
			s.Message = ""
		}
		if extra != (saidOut{}) {
			s.Extra = &extraOut{Skein: extra}
		}
		w.pay(en, &s)
		for _, c := range s.Calls {
			w.calls[c.ID] = called{step: len(w.steps)}
		}
		if m.Role == skein.RoleTool {
			w.losses.Add(en.Seq, "what tools say besides results: a user's")
		}
		w.step(en.Seq, s)
	}
	w.results(en)
}

// pay adds a message's usage.
func (w *writer) pay(en *skein.Entry, s *stepOut) {
	m := &en.Message
	copied := w.d.Session.Parent != nil && w.d.Session.Parent.Why == skein.Fork && en.Seq <= w.d.Session.Base
	if m.Usage == nil || copied || s.Source != "agent" || m.Request != "" && w.paid[m.Request] {
		return
	}
	w.paid[m.Request] = m.Request != ""
	s.Metrics = metricsOf(*m.Usage)
	w.used = w.used.Plus(*m.Usage)
}

// parts puts the parts of a message into its step, except results.
func (w *writer) parts(en *skein.Entry, s *stepOut) {
	var content []partOut
	for i := range en.Message.Parts {
		p := &en.Message.Parts[i]
		switch {
		case p.Kind == skein.PartReasoning && s.Source == "agent":
			w.reasoning(en, s, p, len(content) > 0 || s.Calls != nil)
		case p.Call != nil && s.Source == "agent":
			s.Calls = append(s.Calls, w.call(en, p.Call))
		case p.Result != nil:
		case p.File != nil:
			content = append(content, w.file(en.Seq, p.File))
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent || p.Kind == skein.PartReasoning:
			if s.Calls != nil {
				w.losses.Add(en.Seq, "text behind calls: before them")
			}
			if p.Kind != skein.PartText {
				w.losses.Add(en.Seq, "parts that are not the model's text: as text")
			}
			content = append(content, text(p.Text))
		case p.Call != nil:
			w.losses.Add(en.Seq, "calls that are not the model's: left out")
		default:
			w.losses.Add(en.Seq, "parts of other kinds: left out")
		}
	}
	s.Message = message(content)
}

// message returns parts as a step's message: a string if there is one text.
func message(parts []partOut) any {
	switch {
	case len(parts) == 0:
		return nil
	case len(parts) == 1 && parts[0].Text != nil:
		return *parts[0].Text
	}
	return parts
}

func text(t skein.Text) partOut { return partOut{Type: "text", Text: &t} }

func (w *writer) reasoning(en *skein.Entry, s *stepOut, p *skein.Part, late bool) {
	if late {
		w.losses.Add(en.Seq, "reasoning behind words or calls: before them")
	}
	if len(p.Raw) > 0 {
		w.losses.Add(en.Seq, "reasoning: what only its provider can read")
	}
	if s.Reasoning != "" {
		w.losses.Add(en.Seq, "several pieces of reasoning: as one")
		s.Reasoning += "\n\n"
	}
	s.Reasoning += p.Text
}

// call returns a call; arguments must be an object.
func (w *writer) call(en *skein.Entry, c *skein.Call) callOut {
	out := callOut{c.ID, c.Name, c.Input}
	switch b := bytes.TrimSpace(c.Input); {
	case len(b) > 0 && b[0] == '{':
	case len(b) == 0 || string(b) == "null":
		out.Arguments = json.RawMessage("{}")
	default:
		w.losses.Add(en.Seq, "inputs of tools that are not objects: as the member input of one")
		out.Arguments = slices.Concat(json.RawMessage(`{"input":`), b, json.RawMessage("}"))
	}
	return out
}

// results adds the results in a message to the steps that have their calls.
func (w *writer) results(en *skein.Entry) {
	var lost []resultOut
	for i := range en.Message.Parts {
		r := en.Message.Parts[i].Result
		if r == nil {
			continue
		}
		out := w.result(en, r)
		at, ok := w.calls[r.CallID]
		switch {
		case !ok:
			w.losses.Add(en.Seq, "results without a call in the same document: of the environment")
			out.Call = ""
			lost = append(lost, out)
			continue
		case at.done:
			w.losses.Add(en.Seq, "a second result of a call: left out")
			continue
		case at.step != len(w.steps)-1:
			w.losses.Add(en.Seq, "results that came later: at the step of their call")
		}
		w.calls[r.CallID] = called{at.step, true}
		s := &w.steps[at.step]
		if s.Observation == nil {
			s.Observation = &observationOut{}
		}
		s.Observation.Results = append(s.Observation.Results, out)
		w.seqs[len(w.seqs)-1] = max(w.seqs[len(w.seqs)-1], en.Seq)
	}
	if lost != nil {
		w.step(en.Seq, stepOut{Time: stamp(en.Time), Source: "system", Message: "", Observation: &observationOut{lost}})
	}
}

func (w *writer) result(en *skein.Entry, r *skein.Result) resultOut {
	var parts []partOut
	if r.Text != "" || len(r.Files) == 0 {
		t := r.Text
		if t == "" && len(r.Raw) > 0 {
			t = skein.Text(r.Raw)
			w.losses.Add(en.Seq, "results that are neither text nor picture: as text")
		}
		parts = append(parts, text(t))
	}
	for i := range r.Files {
		parts = append(parts, w.file(en.Seq, &r.Files[i]))
	}
	out := resultOut{Call: r.CallID, Content: message(parts)}
	if r.Failed {
		out.Extra = &extraOut{Failed: true}
	}
	if id := w.child[r.CallID]; id != "" {
		out.Refs = []refOut{{string(id), fileOf(id)}}
	}
	return out
}

// file returns an image, which gets a file of its own, or the name of another file.
func (w *writer) file(seq skein.Seq, f *skein.File) partOut {
	kind, isImage := strings.CutPrefix(f.Media, "image/")
	if isImage && slices.Contains([]string{"png", "jpeg", "gif", "webp"}, kind) {
		if f.Blob != "" && w.d.Blob != nil {
			if data, err := w.d.Blob(f.Blob); err == nil {
				at := "images/" + short(string(f.Blob)) + "." + kind
				w.image(seq, at, data)
				return partOut{Type: "image", Source: &sourceOut{f.Media, at}}
			}
		}
		if at := or(f.URL, f.Name); at != "" {
			return partOut{Type: "image", Source: &sourceOut{f.Media, at}}
		}
	}
	w.losses.Add(seq, "files that are not pictures: their names")
	return text(skein.Text(fmt.Sprintf("[File %s]", or(f.Name, f.URL, f.Media, "without a name"))))
}

func (w *writer) image(seq skein.Seq, at string, data []byte) {
	at = path.Join(path.Dir(w.path), at)
	if !slices.ContainsFunc(w.images, func(t interop.SourceText) bool { return t.Path == at }) {
		w.images = append(w.images, interop.SourceText{Path: at, Lines: []interop.OutLine{{Body: lines.RopeOf(data), Seq: seq}}})
	}
}
