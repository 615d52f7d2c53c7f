package skillet

import (
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// item reads an item of a session.
func (r *reader) item(l line, it *item) interop.Made {
	switch t := it.Type; {
	case t == "" || t == "message":
		return r.message(l, it)
	case t == "reasoning":
		return r.reasoning(l, it)
	case t == "compaction":
		return r.compaction(l)
	case t == "hosted_tool_call" || t == "tool_search_call" && it.Status == "completed" && it.call() == "":
		return r.hosted(l, it)
	case strings.HasSuffix(t, "_call"):
		return r.call(l, it)
	case strings.HasSuffix(t, "_call_result") || strings.HasSuffix(t, "_output"):
		return r.result(l, it)
	}
	return r.unknown(l, "item")
}

func (r *reader) message(l line, it *item) interop.Made {
	var s said
	s.list(it.Content)
	m := skein.Message{Parts: s.all(), Meta: it.meta()}
	switch it.Role {
	case "assistant":
		return r.assistant(l, s, it.meta(), it.Status)
	case "user":
		m.Role = skein.RoleUser
		r.ask(it)
	case "system", "developer":
		m.Role, m.Synthetic = skein.RoleSystem, true
	default:
		return r.unknown(l, "item")
	}
	r.group = group{}
	if it.wire() {
		m.Meta = nil // so that it equals the message that it repeats
	}
	made := r.make(l, skein.Say(l.time, m))
	made.Items[0].Blobs = s.blobs
	made.Instead = it.wire()
	return made
}

// meta returns what an item has besides its content.
func (it *item) meta() json.RawMessage {
	m := struct {
		ID        string          `json:"id,omitempty"`
		Status    string          `json:"status,omitempty"`
		Namespace string          `json:"namespace,omitempty"`
		Provider  json.RawMessage `json:"providerData,omitempty"`
	}{skein.Text(it.ID).UTF8(), skein.Text(it.Status).UTF8(), skein.Text(it.Namespace).UTF8(), raw(it.Provider)}
	if m.Status == "completed" {
		m.Status = ""
	}
	if string(m.Provider) == "{}" {
		m.Provider = nil
	}
	if m.ID == "" && m.Status == "" && m.Namespace == "" && m.Provider == nil {
		return nil
	}
	return skein.MustJSON(m)
}

// A group is the model's message that is being assembled: consecutive reasoning, text
// and calls.
type group struct {
	id    string
	texts []string
	calls map[string]bool
}

// maxGroup is how many texts one message can have: comparing them must stay cheap.
const maxGroup = 100

// takes reports whether parts can be added to g so that all of them are kept: a piece
// that begins like an earlier one would be taken for that one, grown.
func (g *group) takes(parts []skein.Part) bool {
	if g.id == "" || len(g.texts) >= maxGroup {
		return false
	}
	for _, p := range parts {
		if p.Call != nil && g.calls[p.Call.ID] {
			return false
		}
		for _, t := range g.texts {
			if p.Call == nil && strings.HasPrefix(string(p.Text), t) {
				return false
			}
		}
	}
	return true
}

func (g *group) add(parts []skein.Part) {
	for _, p := range parts {
		if p.Call != nil {
			if g.calls == nil {
				g.calls = map[string]bool{}
			}
			g.calls[p.Call.ID] = true
		} else if p.Text != "" {
			g.texts = append(g.texts, string(p.Text))
		}
	}
}

// assistant makes a piece of the model's message.
func (r *reader) assistant(l line, s said, meta json.RawMessage, status string, more ...skein.Event) interop.Made {
	if !r.group.takes(s.parts) {
		r.group = group{id: l.id}
	}
	r.group.add(s.parts)
	if len(s.parts) > 0 && s.parts[0].Meta == nil {
		s.parts[0].Meta, meta = meta, nil
	}
	m := skein.Message{ID: r.group.id, Role: skein.RoleAssistant, Parts: s.all(), Model: r.model, Meta: meta, Interrupted: status == "incomplete"}
	made := r.make(l, append([]skein.Event{skein.Say(l.time, m)}, more...)...)
	made.Items[0].Blobs = s.blobs
	return made
}

// reasoning reads reasoning: a text for users, and an item that only the provider can
// read. With neither it makes no event.
func (r *reader) reasoning(l line, it *item) interop.Made {
	own, _ := unmarshal[reasoned](orEmpty(it.Provider))
	var s said
	for _, v := range []json.RawMessage{raw(it.Content), raw(it.RawContent), raw(firstOf(it.Summary, own.Summary))} {
		if s.texts() == "" {
			s = said{}
			s.list([]byte(v))
		}
	}
	p := skein.Part{Kind: skein.PartReasoning, Text: s.texts()}
	if firstOf(it.Encrypted, it.EncryptedWire, own.Encrypted, own.Wire) != nil {
		p.Raw = json.RawMessage(l.text)
	}
	if p.Text == "" && p.Raw == nil {
		return interop.Made{}
	}
	return r.assistant(l, said{parts: []skein.Part{p}}, it.meta(), it.Status)
}

func orEmpty(v []byte) []byte {
	if loose.IsNull(v) {
		return []byte("{}")
	}
	return v
}

// compaction covers everything before the rows that were added with it: these follow
// it in the model's context.
func (r *reader) compaction(l line) interop.Made {
	r.group, r.compacted = group{}, true
	before := r.batchBegan
	made := r.make(l, skein.NewEvent(skein.KindCompacted, l.time, skein.Compacted{Opaque: json.RawMessage(l.text)}))
	made.Items[0].To = before
	made.Instead = true
	return made
}
