package amplifier

import (
	"bytes"
	"slices"

	"github.com/skein-dev/skein"
)

// interrupted answers the calls without a result before the conversation goes on,
// after the results of the others: no model accepts it otherwise. Before the next
// user message an answer closes the turn.
func (w *writing) interrupted(e skein.Entry) {
	if len(w.open) == 0 {
		return
	}
	w.unknown(e.Seq - 1)
	if e.Message.Role == skein.RoleUser {
		b := (&builder{}).str("role", "assistant").str("content", "The tools that ran were interrupted; what they did is not known.")
		w.said = append(w.said, line{b.value(), e.Seq - 1})
	}
}

// cutOff answers the calls that a fork ends with, as Amplifier does when it forks:
// they will not run here.
func (w *writing) cutOff(entries []skein.Entry) {
	s, n := w.d.Session, len(entries)
	if s.Parent != nil && s.Parent.Why == skein.Fork && w.d.After == 0 && n > 0 && entries[n-1].Seq <= s.Base {
		w.unknown(entries[n-1].End)
	}
}

// unknown answers the calls that have no result in the lines that stay.
func (w *writing) unknown(at skein.Seq) {
	content := `{"error": "unknown_error", "message": "It was interrupted; no result is known."}`
	if p := w.d.Session.Parent; p != nil && p.Why == skein.Fork {
		content = `{"error": "interrupted by a fork", "forked": true, "message": "No result is known in this fork."}`
	}
	for _, c := range w.open {
		if slices.ContainsFunc(w.stays, func(l []byte) bool { return answers(l, c.ID) }) {
			continue
		}
		b := (&builder{}).str("role", "tool").opt("name", c.Name).str("tool_call_id", c.ID).str("content", content)
		w.said = append(w.said, line{b.value(), at})
	}
	w.open = nil
}

// answers reports whether a line of a transcript is a call's result.
func answers(line []byte, id string) bool {
	o, err := parse(bytes.TrimSpace(line))
	return err == nil && o.str("role") == "tool" && o.str("tool_call_id") == id
}

// there notes which calls have no result in the lines that stay.
func (w *writing) there(e skein.Entry) {
	if e.Message.Role == skein.RoleUser || e.Message.Role == skein.RoleAssistant {
		w.open = nil
	}
	for _, p := range e.Message.Parts {
		if p.Call != nil {
			w.open = append(w.open, *p.Call)
		}
		if p.Result != nil {
			w.open = slices.DeleteFunc(w.open, func(c skein.Call) bool { return c.ID == p.Result.CallID })
		}
	}
}

// results writes what tools answered, a line for each.
func (w *writing) results(e skein.Entry) {
	for _, p := range e.Message.Parts {
		r := p.Result
		if r == nil {
			w.losses.Add(e.Seq, string(p.Kind)+" in a tool's message: left out")
			continue
		}
		if len(r.Files) > 0 {
			w.losses.Add(e.Seq, "file in a tool's result: left out")
		}
		w.open = slices.DeleteFunc(w.open, func(c skein.Call) bool { return c.ID == r.CallID })
		text := string(r.Text)
		if text == "" && r.Raw != nil {
			text = string(r.Raw)
		}
		b := (&builder{}).str("role", "tool").opt("name", r.Name).str("tool_call_id", r.CallID).str("content", text)
		w.say(e, b, "")
		ok := "true"
		if r.Failed {
			ok = "false"
			w.losses.Add(e.Seq, "failure of a tool: only in the log")
		}
		w.log(e.Seq, e.Time, "tool:post", func(b *builder) {
			b.opt("tool_name", r.Name).str("tool_call_id", r.CallID)
			b.object("result", func(b *builder) { b.put("success", []byte(ok)).str("output", text) })
		})
	}
}
