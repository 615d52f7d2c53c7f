package record

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// Replay returns the updates that show a message again, as the update of
// session/update. cwd is the session's folder; blob returns the bytes of a blob, or nil.
// What a program inserted is not shown.
func Replay(e *skein.Entry, cwd string, blob func(skein.Hash) []byte) (updates []json.RawMessage) {
	m := &e.Message
	if m.Role == skein.RoleSystem || m.Synthetic {
		return nil
	}
	id := cmp.Or(metaOf(m.Meta).ACP.text("messageId"), MessageID(e.Seq))
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Synthetic:
		case p.Call != nil:
			updates = append(updates, Call(p.Call, cwd))
		case p.Result != nil:
			updates = append(updates, Result(p, blob))
		default:
			if block := blockOf(p, blob); block != nil {
				updates = append(updates, skein.MustJSON(object{"sessionUpdate": skein.MustJSON(chunkKind(m, p)), "messageId": skein.MustJSON(id), "content": block}))
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

// contentOf returns the content of a result, with the bytes of its images.
func contentOf(res *skein.Result, blob func(skein.Hash) []byte) (all []json.RawMessage) {
	if len(res.Raw) == 0 || json.Unmarshal(res.Raw, &all) != nil || len(all) == 0 || !objectOf(all[0]).has("type") {
		all = nil
		if res.Text != "" {
			all = append(all, skein.MustJSON(map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": res.Text}}))
		}
		for i := range res.Files {
			f := &res.Files[i]
			if data := blob(f.Blob); isImage(f.Media) && len(data) > 0 {
				image := map[string]any{"type": "image", "mimeType": f.Media, "data": base64.StdEncoding.EncodeToString(data)}
				all = append(all, skein.MustJSON(map[string]any{"type": "content", "content": image}))
			}
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
