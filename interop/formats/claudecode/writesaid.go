package claudecode

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// conversation writes the messages.
func (w *writer) conversation() error {
	for i := range w.entries {
		e := &w.entries[i]
		w.compact(e.Seq, e.Time)
		if err := w.entry(e, i == len(w.entries)-1); err != nil {
			return err
		}
	}
	w.compact(math.MaxInt64, math.MaxInt64)
	return nil
}

// entry writes a message.
func (w *writer) entry(e *skein.Entry, last bool) error {
	switch e.Message.Role {
	case skein.RoleAssistant:
		return w.answer(e, last)
	case skein.RoleSystem:
		if !w.asked && w.parent == "" {
			w.lose(e, "system prompt: left out, Claude Code has its own")
			return nil
		}
		w.lose(e, "system messages amid the others: as a program's")
		return w.says(e, asMeta)
	case skein.RoleSteer:
		return w.says(e, asSteer)
	case skein.RoleTool:
		return w.says(e, asMeta)
	}
	if e.Message.Synthetic {
		return w.says(e, asMeta)
	}
	return w.says(e, asUser)
}

// A saying is how a message that is not a model's is written.
type saying int

const (
	asUser  saying = iota
	asMeta         // a program inserted it
	asSteer        // it was typed while the agent worked
)

// says writes what a user or program said, and before it the results that were not
// written with their calls.
func (w *writer) says(e *skein.Entry, how saying) error {
	var blocks []blockOut
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		if p.Result != nil && p.Kind == skein.PartResult {
			if err := w.calls.later(e, p.Result); err != nil {
				return err
			}
			continue
		}
		bs, err := w.messages.block(e, p)
		if err != nil {
			return err
		}
		blocks = append(blocks, bs...)
	}
	if len(blocks) == 0 {
		return nil
	}
	l := lineOut{Type: "user", Message: &messageOut{Role: "user", Content: content(blocks)}}
	switch how {
	case asMeta:
		l.Meta = true
	case asSteer:
		l = lineOut{Type: "attachment", Attachment: &steerOut{Type: "queued_command", Prompt: content(blocks), Mode: "prompt"}}
		if e.Message.Synthetic {
			l.Attachment.Mode = "task-notification"
		}
	}
	w.put(e, e.End, l)
	w.asked = true
	return nil
}

// answer writes what a model said, one line per block, and then the results of its
// calls.
func (w *writer) answer(e *skein.Entry, last bool) error {
	if !w.asked && w.parent == "" {
		w.lose(e, "a session that begins with an answer: a line before it says so")
		w.put(e, e.Seq, meta("[What was said before is not shown.]"))
		w.asked = true
	}
	var blocks []blockOut
	var calls []*callOut
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		if p.Call != nil && p.Kind == skein.PartCall {
			c := w.calls.outs[p.Call]
			calls = append(calls, c)
			blocks = append(blocks, w.calls.call(e, c))
			continue
		}
		if p.Result != nil {
			continue // it comes after the calls
		}
		bs, err := w.messages.block(e, p)
		if err != nil {
			return err
		}
		blocks = append(blocks, bs...)
	}
	w.model(e, blocks)
	open := last && w.d.After > 0 // its results may still come
	for _, c := range calls {
		if c.name == "" || c.result == nil && open || !w.calls.within(c) {
			continue
		}
		if err := w.calls.result(c); err != nil {
			return err
		}
	}
	for _, c := range calls {
		if c.name != "" || c.result == nil || !w.calls.within(c) {
			continue
		}
		if err := w.calls.result(c); err != nil {
			return err
		}
	}
	if e.Message.Interrupted && len(blocks) > 0 {
		w.lose(e, "interruptions: as Claude Code notes them")
		text := "[Request interrupted by user]"
		if len(calls) > 0 {
			text = "[Request interrupted by user for tool use]"
		}
		w.put(e, e.End, lineOut{Type: "user", Message: &messageOut{Role: "user", Content: []blockOut{textBlock(text)}}})
	}
	return nil
}

// compact writes the compactions that come before the event at seq, no later than its
// time.
func (w *writer) compact(seq skein.Seq, said skein.Time) {
	for len(w.compacts) > 0 && w.compacts[0].at < seq {
		c := w.compacts[0]
		w.compacts = w.compacts[1:]
		e := &skein.Entry{Seq: c.seq, End: c.seq, Time: min(c.time, said)}
		w.put(e, c.seq, lineOut{
			Type: "system", Subtype: "compact_boundary", Content: "Conversation compacted", Level: "info",
			Compact: &compactOut{first(c.what.Trigger, "manual"), c.what.Before, c.what.After},
		})
		text := skein.Text(c.what.Summary).UTF8()
		w.put(e, c.seq, lineOut{Type: "user", Summary: true, LogOnly: true, Message: &messageOut{Role: "user", Content: text}})
		w.asked = true
	}
}

// modelOf returns the model that a message is written with. Claude Code goes on with that
// of the last message, so another program's is left out unless it is one of Claude's.
func (w *writer) modelOf(m *skein.Message) string {
	model := first(m.Model, w.d.Session.Model, "unknown")
	if strings.HasPrefix(model, "claude-") || model == "<synthetic>" || w.d.Session.Origin != nil && w.d.Session.Origin.Format == Name {
		return model
	}
	return ""
}

// model writes what a model said, one line per block, unless the blocks would be
// taken for one that grows.
func (w *writer) model(e *skein.Entry, blocks []blockOut) {
	m := &e.Message
	l := lineOut{Type: "assistant"}
	if m.Synthetic || m.Error != nil {
		m.Model, l.APIError = "<synthetic>", m.Error != nil
	}
	if m.Error != nil {
		l.Error, l.Status = m.Error.Kind, m.Error.Status
		w.lose(e, "errors: as Claude Code notes them")
		if len(blocks) == 0 {
			blocks = append(blocks, textBlock("API Error: "+skein.Text(m.Error.Message).UTF8()))
		}
	}
	out := messageOut{
		ID:   first(m.ID, "msg_"+strings.ReplaceAll(newUUID(string(w.d.Owner(e.Seq)), strconv.FormatInt(int64(e.Seq), 10)), "-", "")),
		Type: "message", Role: "assistant", Model: w.modelOf(m), Usage: &usageOut{},
	}
	if u := m.Usage; u != nil {
		out.Usage = usageOf(u, m.Tier)
		if u.Reported > 0 {
			w.lose(e, "costs that were reported")
		}
	}
	if request, ok := strings.CutPrefix(m.Request, out.ID+"/"); ok {
		l.Request = request
	} else if m.Request != out.ID {
		l.Request = m.Request
	}
	pieces := slices.Collect(slices.Chunk(blocks, 1))
	if grows(blocks) {
		pieces = [][]blockOut{blocks}
	}
	for i, b := range pieces {
		o := out
		o.Content, o.stopOut = b, &stopOut{}
		if i == len(pieces)-1 {
			stop := stopOf(m)
			o.Stop = &stop
		}
		l.Message = &o
		id := w.put(e, e.End, l)
		for _, block := range b {
			if block.call != nil {
				block.call.line = id
			}
		}
	}
	w.asked = w.asked || len(blocks) > 0
}

// stopOf returns why an answer ended, in Anthropic's terms.
func stopOf(m *skein.Message) string {
	switch m.Stop {
	case "end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn":
		return m.Stop
	}
	for _, p := range m.Parts {
		if p.Call != nil {
			return "tool_use"
		}
	}
	return "end_turn"
}

// rest writes the lines about the session: its newest line, its title.
func (w *writer) rest() {
	var last skein.Seq
	named := w.d.After == 0
	for _, e := range w.d.Events {
		last = e.Seq
		switch {
		case e.Seq <= w.d.After:
		case e.Kind == skein.KindTitled:
			named = true
		case e.Kind == skein.KindNoted:
			w.losses.Add(e.Seq, "notes: left out")
		}
	}
	if w.agentID != "" {
		return
	}
	s := &w.d.Session
	if w.known != nil && w.known.names { // or the program continues from the line named before
		w.add(last, lastPromptOut{"last-prompt", s.LastPrompt, w.parent, w.session})
	}
	title := skein.Text(s.Title).UTF8()
	switch {
	case !named || title == "":
	case s.TitleBy == skein.ByPerson:
		w.add(last, titleOut{Type: "custom-title", Custom: title, Session: w.session})
	default:
		w.add(last, titleOut{Type: "ai-title", AI: title, Session: w.session})
	}
}
