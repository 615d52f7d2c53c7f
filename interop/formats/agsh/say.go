package agsh

import (
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// answer is a tool's result and its position.
type answer struct {
	result *skein.Result
	entry  int
	used   bool
}

// say makes the rows of those live messages that are after the kept seq and up to
// limit.
func (w *writer) say(entries []skein.Entry, limit skein.Seq) {
	w.answers = map[string]answer{}
	for i := range entries {
		for j := range entries[i].Message.Parts {
			if r := entries[i].Message.Parts[j].Result; r != nil {
				w.answers[r.CallID] = answer{r, i, false}
			}
		}
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Seq <= w.keep || e.Seq > limit:
		case e.Message.Role == skein.RoleAssistant:
			w.answer(e, entries)
		case e.Message.Role == skein.RoleSystem:
			w.lose(e, "system message: left out")
		default:
			w.results(e)
			w.typed(e)
		}
	}
}

// typed makes the row of a user message.
func (w *writer) typed(e *skein.Entry) {
	m := &e.Message
	var b strings.Builder
	if blocks := w.pictured(e); blocks != "" {
		w.put(e, roleBlocks, blocks)
		return
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Result != nil:
			continue
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "</context>\n\n") {
				b.WriteString("\n\n")
				w.lose(e, "texts of one message: put together")
			}
			b.WriteString(w.text(e, p.Text))
		default:
			w.lose(e, string(p.Kind)+": left out")
		}
	}
	if b.Len() == 0 {
		return
	}
	if strings.HasPrefix(b.String(), summaryMark) {
		w.lose(e, "that a text is not a summary, although it begins like one")
	}
	switch {
	case m.Role == skein.RoleSteer:
		w.lose(e, "that a message was said in the middle of a turn: left out")
	case m.Role != skein.RoleUser:
		w.lose(e, string(m.Role)+"'s words: as the user's")
	case m.Synthetic:
		w.lose(e, "that a program put a message in: left out")
	}
	w.put(e, roleUser, b.String())
}

// answer makes the rows of the model's answer and of the results of all its calls,
// which the program keeps in one row.
func (w *writer) answer(e *skein.Entry, entries []skein.Entry) {
	m := &e.Message
	var b []byte
	var calls []string
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Call != nil:
			calls = append(calls, p.Call.ID)
			b = w.appendCall(b, p.Call)
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary:
			b = append(b, "[,"[min(len(b), 1)])
			b = append(skein.AppendQuoted(append(b, `{"type":"text","text":`...), string(p.Text)), '}')
		case p.Result == nil:
			w.lose(e, string(p.Kind)+": left out")
		}
	}
	if m.Error != nil || m.Interrupted {
		w.lose(e, "that an answer broke off: left out")
	}
	if m.Usage != nil {
		w.added = w.added.Plus(*m.Usage)
	}
	if b == nil {
		return
	}
	w.put(e, roleAnswer, string(append(b, ']')))
	if len(calls) == 0 {
		return
	}
	w.put(e, roleResults, w.answered(e, calls, entries))
}

// answered returns the content of the row with the results of these calls.
func (w *writer) answered(e *skein.Entry, calls []string, entries []skein.Entry) string {
	var b []byte
	for _, id := range calls {
		a, ok := w.answers[id]
		if !ok || a.used {
			w.lose(e, "call without a result: answered as interrupted")
			b = appendResult(b, id, "[Interrupted: there is no result.]", true)
			continue
		}
		a.used = true
		w.answers[id] = a
		b = w.appendResult(&entries[a.entry], b, a.result)
	}
	return string(append(b, ']'))
}

// results makes the row of results that were not written with their calls.
func (w *writer) results(e *skein.Entry) {
	var b []byte
	told := false
	for i := range e.Message.Parts {
		r := e.Message.Parts[i].Result
		if r == nil {
			continue
		}
		if w.answers[r.CallID].used {
			told = true
			continue
		}
		b = w.appendResult(e, b, r)
	}
	if b != nil {
		w.put(e, roleResults, string(append(b, ']')))
		return
	}
	if n := len(w.lines); told && n > 0 { // the row before covers it too
		w.lines[n-1].Seq = max(w.lines[n-1].Seq, e.End)
	}
}

func (w *writer) appendResult(e *skein.Entry, b []byte, r *skein.Result) []byte {
	if len(r.Files) > 0 {
		w.lose(e, "file of a tool: left out")
	}
	if r.Raw != nil {
		w.lose(e, "tool output that is not text: left out")
	}
	return appendResult(b, r.CallID, w.text(e, r.Text), r.Failed)
}

// appendResult appends a result to the unfinished JSON of a row.
func appendResult(b []byte, call, text string, failed bool) []byte {
	b = append(b, "[,"[min(len(b), 1)])
	b = skein.AppendQuoted(append(b, `{"type":"tool_result","tool_use_id":`...), call)
	b = skein.AppendQuoted(append(b, `,"content":`...), text)
	b = strconv.AppendBool(append(b, `,"is_error":`...), failed)
	return append(b, '}')
}

// appendCall appends a call to the unfinished JSON of a row.
func (w *writer) appendCall(b []byte, c *skein.Call) []byte {
	b = append(b, "[,"[min(len(b), 1)])
	b = skein.AppendQuoted(append(b, `{"type":"tool_use","id":`...), c.ID)
	b = skein.AppendQuoted(append(b, `,"name":`...), c.Name)
	input := []byte(c.Input)
	if len(input) == 0 {
		input = []byte("{}")
	}
	return append(append(append(b, `,"input":`...), input...), '}')
}

func (w *writer) text(e *skein.Entry, t skein.Text) string {
	if t.UTF8() != string(t) {
		w.lose(e, "invalid characters, which were replaced")
	}
	return t.UTF8()
}

func (w *writer) lose(e *skein.Entry, what string) {
	if e.Seq > w.d.After {
		w.losses.Add(e.Seq, what)
	}
}
