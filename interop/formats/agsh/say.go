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

// messages makes the rows of what was said.
type messages struct {
	*output

	view    *view
	answers map[string]answer
	added   skein.Usage
}

// say makes the rows of those live messages that are after keep and up to limit.
func (ms *messages) say(entries []skein.Entry, keep, limit skein.Seq) {
	ms.answers = map[string]answer{}
	for i := range entries {
		for j := range entries[i].Message.Parts {
			if r := entries[i].Message.Parts[j].Result; r != nil {
				ms.answers[r.CallID] = answer{r, i, false}
			}
		}
	}
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Seq <= keep || e.Seq > limit:
		case e.Message.Role == skein.RoleAssistant:
			ms.answer(e, entries)
		case e.Message.Role == skein.RoleSystem:
			ms.lose(e, "system message: left out")
		default:
			ms.results(e)
			ms.typed(e)
		}
	}
}

// typed makes the row of a user message.
func (ms *messages) typed(e *skein.Entry) {
	m := &e.Message
	var texts []string
	if blocks := ms.pictured(e); blocks != "" {
		ms.put(e, roleBlocks, blocks)
		return
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Result != nil:
			continue
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
			text := ms.text(e, p.Text)
			if text == "" {
				continue
			}
			if n := len(texts); n > 0 && !strings.HasSuffix(texts[n-1], "</context>\n\n") {
				texts = append(texts, "\n\n")
				ms.lose(e, "texts of one message: put together")
			}
			texts = append(texts, text)
		default:
			ms.lose(e, string(p.Kind)+": left out")
		}
	}
	all := strings.Join(texts, "") // does not copy a text that stands alone: it may be long
	if all == "" {
		return
	}
	if strings.HasPrefix(all, summaryMark) {
		ms.lose(e, "that a text is not a summary, although it begins like one")
	}
	switch {
	case m.Role == skein.RoleSteer:
		ms.lose(e, "that a message was said in the middle of a turn: left out")
	case m.Role != skein.RoleUser:
		ms.lose(e, string(m.Role)+"'s words: as the user's")
	case m.Synthetic:
		ms.lose(e, "that a program put a message in: left out")
	}
	ms.put(e, roleUser, all)
}

// answer makes the rows of the model's answer and of the results of all its calls,
// which the program keeps in one row.
func (ms *messages) answer(e *skein.Entry, entries []skein.Entry) {
	m := &e.Message
	var b []byte
	var calls []string
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Call != nil:
			calls = append(calls, p.Call.ID)
			b = appendCall(b, p.Call)
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary:
			b = append(b, "[,"[min(len(b), 1)])
			b = append(skein.AppendQuoted(append(b, `{"type":"text","text":`...), string(p.Text)), '}')
		case p.Result == nil:
			ms.lose(e, string(p.Kind)+": left out")
		}
	}
	if m.Error != nil || m.Interrupted {
		ms.lose(e, "that an answer broke off: left out")
	}
	if m.Usage != nil {
		ms.added = ms.added.Plus(*m.Usage)
	}
	if b == nil {
		return
	}
	ms.put(e, roleAnswer, string(append(b, ']')))
	if len(calls) == 0 {
		return
	}
	ms.put(e, roleResults, ms.answered(e, calls, entries))
}

// answered returns the content of the row with the results of these calls.
func (ms *messages) answered(e *skein.Entry, calls []string, entries []skein.Entry) string {
	var b []byte
	for _, id := range calls {
		a, ok := ms.answers[id]
		if !ok || a.used {
			ms.lose(e, "call without a result: answered as interrupted")
			b = appendResult(b, id, ms.d.Unanswered(e, id).UTF8(), true)
			continue
		}
		a.used = true
		ms.answers[id] = a
		b = ms.appendResult(&entries[a.entry], b, a.result)
	}
	return string(append(b, ']'))
}

// results makes the row of results that were not written with their calls.
func (ms *messages) results(e *skein.Entry) {
	var b []byte
	told := false
	for i := range e.Message.Parts {
		r := e.Message.Parts[i].Result
		if r == nil {
			continue
		}
		if ms.answers[r.CallID].used {
			told = true
			continue
		}
		b = ms.appendResult(e, b, r)
	}
	if b != nil {
		ms.put(e, roleResults, string(append(b, ']')))
		return
	}
	if n := len(ms.lines); told && n > 0 { // the row before covers it too
		ms.lines[n-1].Seq = max(ms.lines[n-1].Seq, e.End)
	}
}

func (ms *messages) appendResult(e *skein.Entry, b []byte, r *skein.Result) []byte {
	if len(r.Files) > 0 {
		ms.lose(e, "file of a tool: left out")
	}
	if r.Raw != nil {
		ms.lose(e, "tool output that is not text: left out")
	}
	return appendResult(b, r.CallID, ms.text(e, r.Text), r.Failed)
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
func appendCall(b []byte, c *skein.Call) []byte {
	b = append(b, "[,"[min(len(b), 1)])
	b = skein.AppendQuoted(append(b, `{"type":"tool_use","id":`...), c.ID)
	b = skein.AppendQuoted(append(b, `,"name":`...), c.Name)
	input := []byte(c.Input)
	if len(input) == 0 {
		input = []byte("{}")
	}
	return append(append(append(b, `,"input":`...), input...), '}')
}

func (o *output) text(e *skein.Entry, t skein.Text) string {
	if t.UTF8() != string(t) {
		o.lose(e, "invalid characters, which were replaced")
	}
	return t.UTF8()
}

func (o *output) lose(e *skein.Entry, what string) {
	if e.Seq > o.d.After {
		o.losses.Add(e.Seq, what)
	}
}
