package openaiagents

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// An event is an event with the bytes of its files.
type event struct {
	event skein.Event
	blobs []skein.Blob
}

// events returns what an item makes, and gives its record a key.
func (r *reader) events(m *interop.Made, branch string, at skein.Time, text string) []event {
	o, err := loose.Parse([]byte(text))
	if err != nil || !loose.Fits(text) {
		m.Damage = "message_data is no JSON object"
		return r.note(m, branch, at, jsontext.Value(loose.AsJSON(text)))
	}
	switch kind := o.Str("type"); {
	case kind == "" || kind == "message":
		return r.message(m, branch, at, jsontext.Value(text), o)
	case kind == "reasoning":
		return r.model(m, branch, at, said{parts: []skein.Part{reasoning(jsontext.Value(text), o)}}, o)
	case kind == "compaction" || kind == "compaction_summary":
		m.Instead = true
		m.Key = r.key(branch, []byte(text))
		r.regroup(branch, group{})
		return []event{{event: skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Opaque: loose.Raw(jsontext.Value(text))})}}
	case strings.HasSuffix(kind, "_output"), kind == "mcp_approval_response":
		return r.answer(m, branch, at, kind, o)
	case hosted(kind):
		return r.hosted(m, branch, at, kind, o)
	case strings.HasSuffix(kind, "_call"), kind == "mcp_approval_request":
		return r.model(m, branch, at, said{parts: []skein.Part{r.call(kind, o)}}, o)
	}
	return r.unknown(m, branch, at, jsontext.Value(text))
}

// unknown notes an item that the library is not known to write, unless it continues a
// run of such.
func (r *reader) unknown(m *interop.Made, branch string, at skein.Time, v jsontext.Value) []event {
	noted := r.note(m, branch, at, v)
	if m.Unknown = true; r.run {
		return nil
	}
	return noted
}

// note keeps an item whole.
func (r *reader) note(m *interop.Made, branch string, at skein.Time, v jsontext.Value) []event {
	m.Key = r.key(branch, v)
	return []event{{event: skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "openai-agents:item", Data: loose.Raw(v)})}}
}

// regroup sets a branch's current message of the model.
func (r *reader) regroup(branch string, g group) {
	if th := r.threads[branch]; th != nil {
		th.group = g
	}
}

// message reads a message, including one as the Chat Completions API spells it.
func (r *reader) message(m *interop.Made, branch string, at skein.Time, v jsontext.Value, o loose.Object) []event {
	var s said
	s.content(o.Get("content"))
	for _, c := range o.List("tool_calls") {
		call, _ := loose.Parse(c) // a value that is not an object has no ID
		f := call.Obj("function")
		if id := call.Str("id"); id != "" {
			s.parts = append(s.parts, r.calls(id, f.Str("name"), f.Get("arguments")))
		}
	}
	msg := skein.Message{Parts: s.all()}
	switch role := o.Str("role"); role {
	case "assistant":
		return r.model(m, branch, at, s, o)
	case "user":
		msg.Role = skein.RoleUser
	case "system", "developer":
		msg.Role, msg.Synthetic = skein.RoleSystem, true
	case "tool", "function":
		return r.answer(m, branch, at, role, o)
	default:
		if len(o.Get("__enc__")) > 0 { // what EncryptedSession wrote
			return r.note(m, branch, at, v)
		}
		return r.unknown(m, branch, at, v)
	}
	r.regroup(branch, group{})
	m.Key = r.key(branch, skein.MustJSON(msg))
	return []event{{skein.Say(at, msg), s.blobs}}
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
		switch {
		case p.Call != nil && g.calls == nil:
			g.calls = map[string]bool{p.Call.ID: true}
		case p.Call != nil:
			g.calls[p.Call.ID] = true
		case p.Text != "":
			g.texts = append(g.texts, string(p.Text))
		}
	}
}

// model makes a piece of the model's message.
func (r *reader) model(m *interop.Made, branch string, at skein.Time, s said, o loose.Object) []event {
	m.Key = r.key(branch, skein.MustJSON(s.all()))
	var g group
	if th := r.threads[branch]; th != nil {
		g = th.group
	} else {
		r.threads[branch] = &thread{}
	}
	if !g.takes(s.parts) {
		g = group{id: string(m.Key)}
	}
	g.add(s.parts)
	r.regroup(branch, g)
	return []event{{skein.Say(at, skein.Message{
		ID: g.id, Role: skein.RoleAssistant, Parts: s.all(), Interrupted: o.Str("status") == "incomplete",
	}), s.blobs}}
}

// answer reads a tool's result. One of transfer_to_… says who continues.
func (r *reader) answer(m *interop.Made, branch string, at skein.Time, kind string, o loose.Object) []event {
	id := o.Str("call_id", "tool_call_id", "approval_request_id", "id")
	res := &skein.Result{CallID: id, Name: r.tools[id]}
	delete(r.tools, id)
	var s said
	s.result(res, o, kind)
	msg := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}
	r.regroup(branch, group{})
	m.Key = r.key(branch, skein.MustJSON(msg))
	all := []event{{skein.Say(at, msg), s.blobs}}
	if strings.HasPrefix(res.Name, "transfer_to_") {
		to, _ := loose.Parse([]byte(res.Text)) // a value that is not an object names nobody
		if name := to.Str("assistant"); name != "" {
			all = append(all, event{event: skein.NewEvent(skein.KindChanged, at, skein.Changed{Agent: &name})})
		}
	}
	return all
}
