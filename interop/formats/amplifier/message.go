package amplifier

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// roles are the roles that a message can have.
var roles = []skein.Role{skein.RoleUser, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem, developer}

const developer = "developer"

// message makes the events of a line of the transcript.
func (r *reader) message(m *making, o object, line []byte) error {
	said := skein.Message{Role: skein.Role(o.str("role"))}
	known := slices.Contains(roles, said.Role)
	if m.out.Unknown = !known; m.run && !known {
		return nil
	}
	r.said = r.said || known
	meta := o.obj("metadata")
	if m.time == 0 {
		if m.time = moment(meta.str("timestamp")); m.time == 0 {
			m.time = moment(or(o.str("timestamp"), string(o.get("timestamp"))))
		}
	}
	r.keyTranscriptLine(m, line)
	said.Meta = extra(meta)
	parts := r.parts(m, o.get("content"))
	switch said.Role {
	case skein.RoleUser:
		r.asked(m, said, parts, meta)
	case skein.RoleAssistant:
		said.Parts = r.answer(o, parts)
		m.add(skein.Say(m.time, said))
	case skein.RoleTool:
		r.result(m, said, o)
	case skein.RoleSystem, developer:
		said.Role, said.Parts = skein.RoleSystem, parts
		m.add(skein.Say(m.time, said))
	default:
		m.add(note(m.time, "message", "", line))
	}
	return nil
}

// keyTranscriptLine gives a line of the transcript its key, made from the session that was forked
// first, so that each fork's copy is recognized. Only the first line's key is from
// its own session, and a fork's has the other too: so a session that is not a fork is
// not taken for a copy, even if its fork was read first.
func (r *reader) keyTranscriptLine(m *making, line []byte) {
	if r.opened {
		r.keyed(m, r.root, line)
		return
	}
	r.opened = true
	r.keyed(m, "first\x00"+r.id, line)
	if r.root != r.id {
		m.out.CopyKey = copyKey("first\x00"+r.root, line, m.out.Key)
	}
}

// extra returns a message's metadata without its time; nil for nothing.
func extra(meta object) []byte {
	v := meta.without("timestamp")
	if len(v) == len("{}") || v.Compact() != nil {
		return nil
	}
	return v
}

// asked makes the messages of a user's line: results among its blocks become a tool's
// message.
func (r *reader) asked(m *making, said skein.Message, parts []skein.Part, meta object) {
	own, results := []skein.Part{}, []skein.Part{}
	for _, p := range parts {
		if p.Kind == skein.PartResult {
			results = append(results, p)
		} else {
			own = append(own, p)
		}
	}
	if len(results) > 0 {
		m.add(skein.Say(m.time, skein.Message{Role: skein.RoleTool, Parts: results, Meta: said.Meta}))
	}
	if len(own) > 0 || len(results) == 0 {
		said.Parts = own
		said.Synthetic = meta.str("source") == "hook" || len(own) > 0 && skein.Wrapped(string(own[0].Text))
		m.add(skein.Say(m.time, said))
	}
}

// answer returns the parts of an assistant's line: those of its content, and the
// thinking and the calls that are beside the content.
func (r *reader) answer(o object, parts []skein.Part) []skein.Part {
	there := map[string]bool{}
	thought := false
	for _, p := range parts {
		if p.Call != nil {
			there[p.Call.ID] = true
		}
		thought = thought || p.Kind == skein.PartReasoning
	}
	if s, ok := o.text("thinking_text"); ok && s != "" && !thought {
		parts = append([]skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(s)}}, parts...)
	}
	for _, v := range o.list("tool_calls") {
		c, err := parse(v)
		if err != nil {
			continue
		}
		if p := call(c); p.Call.ID != "" && !there[p.Call.ID] {
			parts, there[p.Call.ID] = append(parts, p), true
		}
	}
	for _, p := range parts {
		if p.Call != nil {
			r.tools[p.Call.ID] = p.Call.Name
		}
	}
	return parts
}

// call returns a call in any of its spellings: tool and arguments, function
// with arguments in a string, name and input.
func call(o object) skein.Part {
	fn := o.obj("function")
	c := &skein.Call{ID: o.str("id"), Name: or(or(o.str("tool"), o.str("name")), fn.str("name"))}
	for _, v := range []jsontext.Value{o.get("arguments"), o.get("input"), fn.get("arguments")} {
		if v == nil {
			continue
		}
		c.Input = json.RawMessage(v)
		if s, ok := skein.Unquote(v); ok && jsontext.Value(s).IsValid() {
			c.Input = json.RawMessage(s)
		}
		break
	}
	if v := jsontext.Value(bytes.Clone(c.Input)); len(v) > 0 && v.Compact() == nil {
		c.Input = json.RawMessage(v)
	}
	return skein.Part{Kind: skein.PartCall, Call: c}
}

// result makes the message of a tool's line, and the session that it ran, if any.
func (r *reader) result(m *making, said skein.Message, o object) {
	id := o.str("tool_call_id")
	res := &skein.Result{CallID: id, Name: or(o.str("name"), r.tools[id]), Failed: o.yes("is_error")}
	r.fill(m, res, o.get("content"))
	var answer object
	if strings.HasPrefix(string(res.Text), "{") && len(res.Text) < maxSmall {
		answer, _ = parse([]byte(res.Text)) // if it is not an object, it is text
	}
	if v := answer.get("error"); v != nil && v.Kind() != 'n' && !answer.yes("success") {
		res.Failed = true
	}
	said.Synthetic = answer.yes("forked") || answer.str("error") == "unknown_error"
	said.Parts = []skein.Part{{Kind: skein.PartResult, Result: res}}
	m.add(skein.Say(m.time, said))
	child := answer.str("session_id")
	if id != "" && strings.Contains(child, "_") && sane(child) {
		s := skein.ToolState{Call: id, State: skein.Completed, End: m.time, Child: skein.SessionID(child)}
		if res.Failed {
			s.State = skein.Failed
		}
		m.add(skein.NewEvent(skein.KindTool, m.time, s))
	}
}
