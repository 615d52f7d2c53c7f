package record

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// Replay returns the updates that show a message again, as the update of
// session/update. blob returns the bytes of a blob, or nil. What a program inserted is
// not shown.
func Replay(e *skein.Entry, blob func(skein.Hash) []byte) (updates []json.RawMessage) {
	m := &e.Message
	if m.Role == skein.RoleSystem || m.Synthetic {
		return nil
	}
	id := cmp.Or(metaOf(m.Meta).ACP.text("messageId"), MessageID(e.Seq))
	say := func(u object) { updates = append(updates, skein.MustJSON(u)) }
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Synthetic:
		case p.Call != nil:
			say(callUpdate(p.Call))
		case p.Result != nil:
			say(resultUpdate(p, blob))
		default:
			if block := blockOf(p, blob); block != nil {
				say(object{"sessionUpdate": skein.MustJSON(chunkKind(m, p)), "messageId": skein.MustJSON(id), "content": block})
			}
		}
	}
	return updates
}

// MessageID returns how a replay names the message at a seq, if its agent did not.
func MessageID(at skein.Seq) string { return fmt.Sprintf("skein-%d", at) }

// Seq returns the seq that a MessageID has.
func Seq(id string) (at skein.Seq, ok bool) {
	_, err := fmt.Sscanf(id, "skein-%d", &at)
	return at, err == nil
}

func chunkKind(m *skein.Message, p *skein.Part) string {
	switch {
	case m.Role == skein.RoleUser || m.Role == skein.RoleSteer:
		return "user_message_chunk"
	case p.Kind == skein.PartReasoning:
		return "agent_thought_chunk"
	}
	return "agent_message_chunk"
}

func callUpdate(c *skein.Call) object {
	u := object{
		"sessionUpdate": json.RawMessage(`"tool_call"`), "toolCallId": skein.MustJSON(c.ID), "status": json.RawMessage(`"pending"`),
		"title": skein.MustJSON(cmp.Or(c.Name, "tool")), "kind": skein.MustJSON(toolKind(c.Name)),
	}
	if len(c.Input) > 0 {
		u["rawInput"] = c.Input
	}
	return u
}

// toolKind returns the protocol's kind of a tool: its name, if that is one.
func toolKind(name string) string {
	switch name {
	case "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode":
		return name
	case "Read", "read_file":
		return "read"
	case "Edit", "Write", "MultiEdit", "apply_patch", "write", "edit_file":
		return "edit"
	case "Bash", "bash", "shell", "exec_command", "local_shell":
		return "execute"
	case "Grep", "Glob", "grep", "glob":
		return "search"
	case "WebFetch", "webfetch", "WebSearch":
		return "fetch"
	}
	return "other"
}

func resultUpdate(p *skein.Part, blob func(skein.Hash) []byte) object {
	res := p.Result
	u := object{"sessionUpdate": json.RawMessage(`"tool_call_update"`), "toolCallId": skein.MustJSON(res.CallID), "status": json.RawMessage(`"completed"`)}
	for name, v := range metaOf(p.Meta).ACP {
		u[name] = v
	}
	if res.Failed {
		u["status"] = json.RawMessage(`"failed"`)
	}
	if all := contentOf(res, blob); len(all) > 0 {
		u["content"] = skein.MustJSON(all)
	}
	return u
}

// contentOf returns the content of a result, with the bytes of its images.
func contentOf(res *skein.Result, blob func(skein.Hash) []byte) (all []json.RawMessage) {
	if len(res.Raw) == 0 || json.Unmarshal(res.Raw, &all) != nil || len(all) == 0 || !objectOf(all[0]).has("type") {
		all = nil
		if res.Text != "" {
			all = append(all, skein.MustJSON(map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": res.Text}}))
		}
		return all
	}
	files := res.Files
	for i, raw := range all {
		c := objectOf(raw)
		b := objectOf(c["content"])
		if kind := b.text("type"); kind != "image" && kind != "audio" || b.has("data") || len(files) == 0 {
			continue
		}
		b["data"] = skein.MustJSON(base64.StdEncoding.EncodeToString(blob(files[0].Blob)))
		c["content"], files = skein.MustJSON(b), files[1:]
		all[i] = skein.MustJSON(c)
	}
	return all
}
