package codex

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// response reads a response_item: what went to the model or came from it.
func (r *reader) response(l line) interop.Made {
	it, err := unmarshal[item](l.Payload)
	if err != nil {
		return r.odd(l, err)
	}
	switch l.Sub {
	case "message":
		return r.message(l, &it)
	case "reasoning":
		return r.reasoning(l, &it)
	case "agent_message":
		return r.agentMessage(l, &it)
	}
	if c := callOf(l, &it); c != nil {
		return r.answers.call(l, c)
	}
	switch l.Sub {
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		return r.answers.output(l, &it)
	case "web_search_call", "image_generation_call":
		return r.answers.hosted(l, &it)
	case "ghost_snapshot", "compaction", "other":
		return r.note(l)
	}
	if l.Bare { // any object that has a type
		return r.unknown(l)
	}
	return r.note(l)
}

func (r *reader) message(l line, it *item) interop.Made {
	var s said
	s.list(it.Content)
	m := skein.Message{Parts: s.all()}
	switch it.Role {
	case "assistant":
		return r.answers.assistant(l, &s, it.meta())
	case "user":
		m.Role = skein.RoleUser
		markInjected(&m)
	case "developer", "system":
		m.Role, m.Synthetic = skein.RoleSystem, true
	default:
		return r.note(l)
	}
	r.answers.end()
	evs := r.settings.cwdFrom(l, &m)
	made := r.make(l, append(evs, skein.Say(l.Time, m))...)
	last := len(made.Items) - 1
	made.Items[last].Blobs = s.blobs
	if m.Role == skein.RoleUser {
		if m.Typed() {
			r.prompts = append(r.prompts, r.items)
		}
		r.place.typed(s.texts())
	}
	return made
}

// markInjected marks what Codex inserted into a user's message; if that is
// everything, the user did not type the message.
func markInjected(m *skein.Message) {
	all := len(m.Parts) > 0
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Synthetic = p.Kind == skein.PartText && injected(p.Text)
		all = all && p.Synthetic
	}
	if m.Synthetic = all; !all {
		return
	}
	for i := range m.Parts {
		m.Parts[i].Synthetic = false // the message says it
	}
}

// reasoning reads reasoning: a summary for users, and an item that only the provider
// can read. Older versions wrote items that have neither; they make no event.
func (r *reader) reasoning(l line, it *item) interop.Made {
	var s said
	s.list(it.Summary)
	s.list(it.Content)
	p := skein.Part{Kind: skein.PartReasoning, Text: s.texts()}
	if !loose.IsNull(it.EncryptedContent) {
		p.Raw = skeinRaw(l.Payload)
	}
	if p.Text == "" && p.Raw == nil {
		return interop.Made{}
	}
	return r.answers.assistant(l, &said{parts: []skein.Part{p}}, nil)
}

// agentMessage reads what another agent of the same run said.
func (r *reader) agentMessage(l line, it *item) interop.Made {
	var s said
	s.list(it.Content)
	return r.fromAgent(l, &s, it.Author)
}

func (r *reader) fromAgent(l line, s *said, author string) interop.Made {
	r.answers.end()
	m := skein.Message{Role: skein.RoleUser, Parts: s.all(), Agent: author, Synthetic: true}
	made := r.make(l, skein.Say(l.Time, m))
	made.Items[0].Blobs = s.blobs
	return made
}

// compact reads a compaction: the message is the summary, the history is what the
// model is shown from now on in place of everything before.
func (r *reader) compact(l line) interop.Made {
	c, err := unmarshal[compacted](l.Payload)
	if err != nil {
		return r.odd(l, err)
	}
	r.answers.end()
	what := skein.Compacted{Opaque: skeinRaw(c.ReplacementHistory)}
	if c.Message != nil {
		what.Summary = c.Message.UTF8()
	}
	if what.Summary == "" {
		what.Summary = summaryOf(c.ReplacementHistory)
	}
	to := r.items
	made := r.make(l, skein.NewEvent(skein.KindCompacted, l.Time, what))
	made.Items[0].To = to
	return made
}

// summaryOf returns the texts of a history that only its provider can use, for all
// others.
func summaryOf(history jsontext.Value) string {
	if loose.IsNull(history) {
		return ""
	}
	items, err := unmarshal[[]item](history)
	if err != nil {
		return ""
	}
	var all said
	for _, it := range items {
		var s said
		if s.list(it.Content); it.Role == "user" || it.Role == "assistant" {
			all.parts = append(all.parts, s.parts...)
		}
	}
	kept := all.parts[:0]
	for _, p := range all.parts {
		if !injected(p.Text) {
			kept = append(kept, p)
		}
	}
	all.parts = kept
	return all.texts().UTF8()
}

// agents reads a message between agents of one run.
func (r *reader) agents(l line) interop.Made {
	it, err := unmarshal[item](l.Payload)
	if err != nil {
		return r.odd(l, err)
	}
	var s said
	s.list(it.Content)
	if len(s.parts) == 0 {
		return r.note(l)
	}
	return r.fromAgent(l, &s, it.Author)
}
