package copilot

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// messages makes messages of what users, programs, the model and its tools said.
type messages struct {
	*threads

	spent   spent
	assets  assets
	system  map[string]string // newest system message of a session, hashed
	thought string            // newest reasoning in an event of its own
}

// user makes the message of a user, or of a program that speaks as one. What the
// model was sent instead is its Meta.
func (ms *messages) user(l line) []piece {
	d := l.data
	m := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{}}
	if d.Str("delivery") == "steering" {
		m.Role = skein.RoleSteer
	}
	text, _ := d.Text("content")
	sent, _ := d.Text("transformedContent")
	source := d.Str("source")
	m.Synthetic = source != "" && source != "user" || d.Yes("isAutopilotContinuation") || text == "" && sent != ""
	if text == "" {
		text, sent = sent, ""
	}
	if text != "" {
		m.Parts = append(m.Parts, skein.TextPart(text))
	}
	var blobs []skein.Blob
	for _, v := range d.List("attachments") {
		p, b := ms.attachment(v)
		m.Parts = append(m.Parts, p)
		blobs = append(blobs, b...)
	}
	m.Meta = loose.Raw(d.Without("content", "attachments", "supportedNativeDocumentMimeTypes", "transformedContent"))
	if sent != "" && sent != text {
		m.Meta = loose.Raw(d.Without("content", "attachments", "supportedNativeDocumentMimeTypes"))
	}
	if len(m.Meta) <= len("{}") {
		m.Meta = nil
	}
	return []piece{{event: skein.Say(l.at, m), blobs: blobs}}
}

// attachment reads what was attached to a message.
func (ms *messages) attachment(v jsontext.Value) (skein.Part, []skein.Blob) {
	other := skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)}
	o, err := loose.Parse(v)
	if err != nil {
		return other, nil
	}
	if f, blobs := ms.assets.file(o); f != nil {
		return skein.Part{Kind: skein.PartFile, File: f}, blobs
	}
	f := &skein.File{}
	switch o.Str("type") {
	case "file", "directory":
		lines := o.Obj("lineRange")
		f.Name, f.First, f.Last = loose.Clip(o.Str("path", "displayName")), int(lines.Count("start")), int(lines.Count("end"))
	case "selection":
		at := o.Obj("selection")
		f.Name = loose.Clip(o.Str("filePath", "displayName"))
		f.First, f.Last = int(at.Obj("start").Count("line"))+1, int(at.Obj("end").Count("line"))+1
		return skein.Part{Kind: skein.PartFile, File: f, Meta: loose.Raw(v)}, nil
	case "blob":
		file, blob := loose.Attach(o.Str("displayName"), o.Str("mimeType"), loose.Str(o.Get("data")))
		if file == nil {
			return other, nil
		}
		p := skein.Part{Kind: skein.PartFile, File: file}
		if blob != nil {
			return p, []skein.Blob{*blob}
		}
		return p, nil
	}
	if f.Name == "" {
		return other, nil
	}
	return skein.Part{Kind: skein.PartFile, File: f}, nil
}

// assistant makes the model's message.
func (ms *messages) assistant(l line) []piece {
	d := l.data
	m := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{}, Provider: provider, Model: d.Str("model")}
	if m.Model == "" {
		m.Model = ms.modelOf(l.session)
	}
	if d.Has("chunkCount") {
		m.ID = d.Str("apiCallId")
	}
	thought, _ := d.Text("reasoningText")
	opaque := opaqueOf(d)
	if (thought != "" || opaque != nil) && (thought == "" || thought != ms.thought) {
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought), Meta: opaque})
	}
	ms.thought = ""
	if text, _ := d.Text("content"); text != "" {
		m.Parts = append(m.Parts, skein.TextPart(text))
	}
	for _, v := range d.List("toolRequests") {
		if p, ok := ms.asked(v, l.session); ok {
			m.Parts = append(m.Parts, p)
		}
	}
	m.Request, m.Usage = ms.spent.message(l, m.Model)
	return []piece{{event: skein.Say(l.at, m)}}
}

// opaqueOf returns the part of a message that only its provider can read.
func opaqueOf(d loose.Object) []byte {
	var o loose.Object
	for _, name := range []string{"reasoningOpaque", "encryptedContent", "reasoningBlocks"} {
		if v := d.Get(name); !loose.IsNull(v) {
			o = append(o, loose.Member{Name: name, Value: v})
		}
	}
	if o == nil {
		return nil
	}
	return loose.Raw(o.Without())
}

// asked reads the request for a tool.
func (ms *messages) asked(v jsontext.Value, session string) (skein.Part, bool) {
	o, err := loose.Parse(v)
	if err != nil {
		return skein.Part{}, false
	}
	p := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: o.Str("toolCallId"), Name: o.Str("name"), Input: loose.Raw(o.Get("arguments"))}}
	if meta := loose.Raw(o.Without("toolCallId", "name", "arguments", "type")); len(meta) > len("{}") {
		p.Meta = meta
	}
	if len(ms.calls) < maxKnown {
		ms.calls[p.Call.ID] = session
	}
	return p, true
}

// reasoning makes a message of the model's reasoning, if that has an event of its
// own.
func (ms *messages) reasoning(l line) []piece {
	text, _ := l.data.Text("content")
	if ms.thought = text; text == "" {
		return []piece{note(l, "", nil)}
	}
	return []piece{say(l.at, skein.Message{
		Role: skein.RoleAssistant, Provider: provider, Model: ms.modelOf(l.session),
		Parts: []skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(text)}},
	})}
}

// instructed makes a system message, unless it repeats the one before.
func (ms *messages) instructed(l line) []piece {
	text, _ := l.data.Text("content")
	sum := short(text)
	if ms.system[l.session] == sum {
		return nil
	}
	ms.system[l.session] = sum
	return []piece{say(l.at, skein.Message{Role: skein.RoleSystem, Synthetic: true, Parts: []skein.Part{skein.TextPart(text)}})}
}

// modelOf returns the model that answers in a session.
func (ts *threads) modelOf(session string) string {
	if a := ts.agents.byName[session]; a != nil && a.model != "" {
		return a.model
	}
	return ts.model
}

// flat reads a line of the earliest format: a prompt or an answer.
func (r *reader) flat(o loose.Object, in interop.Line) (m interop.Made) {
	r.id = o.Str("session_id")
	if r.created.Cwd == "" {
		r.created.Cwd, r.created.Project = o.Str("cwd"), o.Str("cwd")
	}
	l := line{kind: o.Str("type"), at: loose.Millis(o.Get("timestamp")), raw: in.Body, data: o, body: in.Body, run: in.Run}
	if l.at == 0 {
		l.at = loose.Stamp(o.Get("timestamp"))
	}
	kind := strings.ToLower(l.kind)
	text, ok := o.Text("prompt")
	role := skein.RoleUser
	if kind == "assistantresponse" {
		text, ok = o.Text("result")
		role = skein.RoleAssistant
	}
	if !ok || !slices.Contains([]string{"userpromptsubmitted", "assistantresponse"}, kind) {
		return r.other(l)
	}
	return r.make(l, say(l.at, skein.Message{Role: role, Parts: []skein.Part{skein.TextPart(text)}}))
}
