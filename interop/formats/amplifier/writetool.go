package amplifier

import (
	"bytes"
	"slices"

	"github.com/skein-dev/skein"
)

// calls are the calls that have no result yet.
type calls struct {
	*output

	known *known
	open  []skein.Call
}

// interrupted answers the calls without a result before the conversation continues,
// after the results of the others: no model accepts it otherwise. Before the next
// user message an answer closes the turn.
func (cs *calls) interrupted(e skein.Entry) {
	if len(cs.open) == 0 {
		return
	}
	cs.unknown(e.Seq - 1)
	if e.Message.Role == skein.RoleUser {
		b := (&builder{}).str("role", "assistant").str("content", "The tools that ran were interrupted; what they did is not known.")
		cs.said = append(cs.said, line{b.rope(), e.Seq - 1})
	}
}

// cutOff answers the calls that a fork ends with, as Amplifier does when it forks:
// they will not run here.
func (cs *calls) cutOff(entries []skein.Entry) {
	s, n := cs.d.Session, len(entries)
	if s.Parent != nil && s.Parent.Why == skein.Fork && cs.d.After == 0 && n > 0 && entries[n-1].Seq <= s.Base {
		cs.unknown(entries[n-1].End)
	}
}

// unknown answers the calls that have no result in the lines that stay.
func (cs *calls) unknown(at skein.Seq) {
	content := `{"error": "unknown_error", "message": "It was interrupted; no result is known."}`
	if p := cs.d.Session.Parent; p != nil && p.Why == skein.Fork {
		content = `{"error": "interrupted by a fork", "forked": true, "message": "No result is known in this fork."}`
	}
	for _, c := range cs.open {
		if slices.ContainsFunc(cs.known.stays, func(l []byte) bool { return answers(l, c.ID) }) {
			continue
		}
		b := (&builder{}).str("role", "tool").opt("name", c.Name).str("tool_call_id", c.ID).str("content", content)
		cs.said = append(cs.said, line{b.rope(), at})
	}
	cs.open = nil
}

// answers reports whether a line of a transcript is a call's result.
func answers(line []byte, id string) bool {
	o, err := parse(bytes.TrimSpace(line))
	return err == nil && o.str("role") == "tool" && o.str("tool_call_id") == id
}

// there notes which calls have no result in the lines that stay.
func (cs *calls) there(e skein.Entry) {
	if e.Message.Role == skein.RoleUser || e.Message.Role == skein.RoleAssistant {
		cs.open = nil
	}
	for _, p := range e.Message.Parts {
		if p.Call != nil {
			cs.open = append(cs.open, *p.Call)
		}
		if p.Result != nil {
			cs.answered(p.Result.CallID)
		}
	}
}

// answered notes that a call has a result.
func (cs *calls) answered(id string) {
	cs.open = slices.DeleteFunc(cs.open, func(c skein.Call) bool { return c.ID == id })
}

// results writes what tools answered, a line for each.
func (ms *messages) results(e skein.Entry) {
	for _, p := range e.Message.Parts {
		r := p.Result
		if r == nil {
			ms.losses.Add(e.Seq, string(p.Kind)+" in a tool's message: left out")
			continue
		}
		if len(r.Files) > 0 {
			ms.losses.Add(e.Seq, "file in a tool's result: left out")
		}
		ms.calls.answered(r.CallID)
		text := string(r.Text)
		if text == "" && r.Raw != nil {
			text = string(r.Raw)
		}
		b := (&builder{}).str("role", "tool").opt("name", r.Name).str("tool_call_id", r.CallID).str("content", text)
		ms.say(e, b, "")
		ok := "true"
		if r.Failed {
			ok = "false"
			ms.losses.Add(e.Seq, "failure of a tool: only in the log")
		}
		ms.log.add(e.Seq, e.Time, "tool:post", func(b *builder) {
			b.opt("tool_name", r.Name).str("tool_call_id", r.CallID)
			b.object("result", func(b *builder) { b.put("success", []byte(ok)).str("output", text) })
		})
	}
}
