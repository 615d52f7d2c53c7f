package opencode

import (
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// newer reads a row of the table session_message, in which later versions put a
// message with all its parts. If a session has both, they are the same and these are
// not read.
func (r *reader) newer(m *interop.Made, id, kind string, at skein.Time, o loose.Object) {
	msg := &message{at: at, role: skein.RoleUser, first: r.items}
	if kind == "assistant" {
		msg.role, msg.agent = skein.RoleAssistant, o.Str("agent")
		model := o.Obj("model")
		msg.model, msg.provider = model.Str("id", "modelID"), model.Str("providerID")
	}
	msg.key = r.keyOf(id, msg.role, at)
	m.Key = msg.key
	text, _ := o.Text("text")
	switch kind {
	case "user", "synthetic", "system":
		if kind == "system" {
			msg.role = skein.RoleSystem
		}
		said := r.says(msg)
		said.Synthetic = kind != "user"
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartText, Text: skein.Text(text)})
		var blobs []skein.Blob
		for _, v := range o.List("files") {
			f, err := loose.Parse(v)
			if err != nil {
				continue
			}
			if file, blob := loose.Attach(f.Str("name", "filename"), f.Str("mime"), f.Str("uri", "url")); file != nil {
				said.Parts = append(said.Parts, skein.Part{Kind: skein.PartFile, File: file})
				if blob != nil {
					blobs = append(blobs, *blob)
				}
			}
		}
		r.put(m, skein.Say(at, said), blobs...)
	case "assistant":
		r.answer(m, msg, at, o)
	case "compaction":
		summary, _ := o.Text("summary")
		r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: skein.Text(summary).UTF8(), Trigger: o.Str("reason")}))
		m.Items[len(m.Items)-1].To = r.items - 1
	default:
		r.unknown(m, noted(at, named(kind), loose.Raw(whole(o))))
	}
}

// answer reads what a model said in one request.
func (r *reader) answer(m *interop.Made, msg *message, at skein.Time, o loose.Object) {
	for i, v := range o.List("content") {
		c, err := loose.Parse(v)
		if err != nil {
			continue
		}
		switch kind := c.Str("type"); kind {
		case "text", "reasoning":
			text, _ := c.Text("text")
			r.piece(m, msg, at, skein.Part{Kind: skein.PartKind(kind), Text: skein.Text(text), Meta: loose.Raw(c.Get("providerMetadata"))}, nil)
		case "tool":
			r.newerTool(m, msg, i, at, c)
		default:
			r.put(m, noted(at, named(kind), loose.Raw(v)))
		}
	}
	u := usageOf(o)
	step := skein.Step{Phase: "finish", Provider: msg.provider, Model: msg.model, Stop: o.Str("finish"), Request: string(msg.key)}
	if u != (skein.Usage{}) {
		step.Usage = &u
	}
	if e := o.Get("error"); !loose.IsNull(e) {
		failed := mustParse(e)
		step.Error = &skein.ErrorInfo{Kind: failed.Str("type", "name"), Message: failed.Str("message")}
	}
	r.put(m, skein.NewEvent(skein.KindStep, at, step))
}

func (r *reader) newerTool(m *interop.Made, msg *message, i int, at skein.Time, c loose.Object) {
	s, times := c.Obj("state"), c.Obj("time")
	call := skein.Call{ID: c.Str("id"), Name: c.Str("name"), Input: loose.Inner(s.Get("input"))}
	if call.ID == "" {
		call.ID = string(msg.key) + "/" + strconv.Itoa(i)
	}
	st := skein.ToolState{
		Call: call.ID, State: stateOf(s.Str("status")), Meta: loose.Raw(s.Get("structured")),
		Start: loose.Millis(times.Get("ran")), End: loose.Millis(times.Get("completed")),
	}
	r.piece(m, msg, at, skein.Part{Kind: skein.PartCall, Call: &call}, nil)
	r.put(m, skein.NewEvent(skein.KindTool, max(at, st.End), st))
	msg.ran = true
	if st.State != skein.Completed && st.State != skein.Failed {
		return
	}
	res := skein.Result{CallID: call.ID, Name: call.Name, Failed: st.State == skein.Failed}
	var blobs []skein.Blob
	for _, v := range s.List("content") {
		p, err := loose.Parse(v)
		if err != nil {
			continue
		}
		if text, ok := p.Text("text"); ok {
			res.Text += skein.Text(text)
		} else if f, blob := loose.Attach(p.Str("name"), p.Str("mime", "mediaType"), p.Str("uri", "data", "url")); f != nil {
			res.Files = append(res.Files, *f)
			if blob != nil {
				blobs = append(blobs, *blob)
			}
		}
	}
	if failed := s.Obj("error"); res.Text == "" {
		res.Text = skein.Text(failed.Str("message"))
	}
	r.say(m, msg, max(at, st.End), skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res}}}, blobs...)
}
