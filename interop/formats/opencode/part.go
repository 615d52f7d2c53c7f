package opencode

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// part reads a part of a message. at is used if it has no time.
func (r *reader) part(m *interop.Made, id, of string, at skein.Time, o loose.Object) {
	msg := r.messages[of]
	kind := o.Str("type")
	if msg == nil {
		m.Damage = fmt.Sprintf("part of a missing message, %.80q", of)
		m.Key = skein.ClientID(Name + ":p:" + id)
		r.put(m, noted(at, "part", loose.Raw(whole(o))))
		return
	}
	msg.parts++
	m.Key = skein.ClientID(fmt.Sprintf("%s:%d", msg.key, msg.parts))
	if r.revert.message == of && r.revert.part == id {
		msg.hidden, r.reverted = true, true
	}
	times := o.Obj("time")
	start, end := loose.Millis(times.Get("start")), loose.Millis(times.Get("end"))
	if at == 0 {
		at = msg.at
	}
	if start != 0 {
		at = start
	}
	switch kind {
	case "text", "reasoning":
		r.text(m, msg, at, start, end, kind, o)
	case "file":
		f, blob := loose.Attach(o.Str("filename"), o.Str("mime"), o.Str("url"))
		if f == nil {
			f = &skein.File{Name: loose.Clip(o.Str("filename")), Media: loose.Clip(o.Str("mime")), URL: o.Str("url")}
		}
		r.piece(m, msg, at, skein.Part{Kind: skein.PartFile, File: f, Meta: loose.Raw(o.Get("source"))}, blob)
	case "tool":
		r.tool(m, msg, id, at, o)
	case "agent":
		r.piece(m, msg, at, skein.Part{Kind: skein.PartAgent, Text: skein.Text(o.Str("name"))}, nil)
	case "subtask":
		r.piece(m, msg, at, skein.Part{Kind: skein.PartOther, Raw: loose.Raw(whole(o))}, nil)
	case "step-start":
		if msg.ran {
			msg.round, msg.ran = msg.round+1, false
		}
		r.put(m, skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "start", Provider: msg.provider, Model: msg.model}))
	case "step-finish":
		r.finish(m, msg, at, o)
	case "retry":
		n := o.Count("attempt")
		r.put(m, skein.NewEvent(skein.KindStep, at, skein.Step{
			Phase: "finish", Provider: msg.provider, Model: msg.model, Attempt: int(min(n, 1000)), Error: errorOf(o.Obj("error")),
		}))
	case "compaction":
		r.put(m, noted(at, kind, loose.Raw(whole(o))))
		r.tail = o.Str("tail_start_id")
	case "snapshot", "patch":
		r.put(m, noted(at, kind, loose.Raw(whole(o))))
	default:
		msg.parts-- // it must not move those that are known, whatever it stands between
		m.Key = skein.ClientID(fmt.Sprintf("%s:%s", msg.key, skein.NewBlob(whole(o)).Hash[:24]))
		r.unknown(m, noted(at, named(kind), loose.Raw(whole(o))))
	}
}

// named returns the name under which a kind of part is noted.
func named(kind string) string {
	if kind = loose.Clip(kind); kind == "" || len(kind) > 80 {
		return "part"
	}
	return kind
}

// whole returns a part without the IDs, which differ in a copy.
func whole(o loose.Object) []byte { return o.Without("id", "sessionID", "messageID") }

// piece adds one part of a message.
func (r *reader) piece(m *interop.Made, msg *message, at skein.Time, p skein.Part, blob *skein.Blob) {
	if msg.ran && p.Kind != skein.PartCall {
		msg.round, msg.ran = msg.round+1, false
	}
	said := r.says(msg)
	said.Parts = append(said.Parts, p)
	if blob != nil {
		r.say(m, msg, at, said, *blob)
		return
	}
	r.say(m, msg, at, said)
}

// text reads text or reasoning; a compaction's text replaces what was before it.
func (r *reader) text(m *interop.Made, msg *message, at, start, end skein.Time, kind string, o loose.Object) {
	text, _ := o.Text("text")
	if msg.summary && msg.done && !msg.hidden {
		if kind != "text" {
			r.put(m, noted(at, kind, loose.Raw(whole(o))))
			return
		}
		r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: skein.Text(text).UTF8()}))
		m.Items[len(m.Items)-1].To = r.items - 1
		if kept := r.messages[msg.tail]; kept != nil {
			m.Items[len(m.Items)-1].To = kept.first
		}
		return
	}
	p := skein.Part{Kind: skein.PartKind(kind), Text: skein.Text(text), Start: start, End: end, Synthetic: o.Yes("synthetic")}
	meta := loose.Object{}
	for _, name := range []string{"metadata", "ignored"} {
		if v := o.Get(name); !loose.IsNull(v) {
			meta = append(meta, loose.Member{Name: name, Value: v})
		}
	}
	if len(meta) > 0 {
		p.Meta = loose.Raw(meta.Without())
	}
	r.piece(m, msg, at, p, nil)
}

// finish reads a request's usage.
func (r *reader) finish(m *interop.Made, msg *message, at skein.Time, o loose.Object) {
	u := usageOf(o)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s:%d\x00%s\x00%s\x00%s\x00%s", msg.key, msg.parts, msg.provider, msg.model, o.Get("tokens"), o.Get("cost")))
	r.put(m, skein.NewEvent(skein.KindStep, at, skein.Step{
		Phase: "finish", Provider: msg.provider, Model: msg.model, Usage: &u, Stop: o.Str("reason"),
		Request: Name + ":" + hex.EncodeToString(sum[:12]),
	}))
}
