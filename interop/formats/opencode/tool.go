package opencode

import (
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// tool reads a call: the input, the state, and the result if there is one.
func (r *reader) tool(m *interop.Made, msg *message, id string, at skein.Time, o loose.Object) {
	s := o.Obj("state")
	times := s.Obj("time")
	call := skein.Call{ID: o.Str("callID"), Name: o.Str("tool"), Input: loose.Raw(s.Get("input"))}
	if call.ID == "" {
		call.ID = id
	}
	st := skein.ToolState{
		Call: call.ID, State: stateOf(s.Str("status")), Title: s.Str("title"),
		Start: loose.Millis(times.Get("start")), End: loose.Millis(times.Get("end")),
		Meta: metaOf(s, o),
	}
	if st.Start != 0 {
		at = st.Start
	}
	if call.Name == "task" {
		data := s.Obj("metadata")
		st.Child = skein.SessionID(data.Str("sessionId", "sessionID"))
	}
	r.piece(m, msg, at, skein.Part{Kind: skein.PartCall, Call: &call}, nil)
	r.put(m, skein.NewEvent(skein.KindTool, max(at, st.End), st))
	msg.ran = true
	res := skein.Result{CallID: call.ID, Name: call.Name}
	var blobs []skein.Blob
	switch st.State {
	case skein.Failed:
		text, _ := s.Text("error")
		res.Text, res.Failed = skein.Text(text), true
	case skein.Completed:
		if text, ok := s.Text("output"); ok {
			res.Text = skein.Text(text)
		} else {
			res.Raw = loose.Raw(s.Get("output"))
		}
		res.Files, blobs = attached(s)
	default:
		return
	}
	said := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res}}}
	r.say(m, msg, max(at, st.End), said, blobs...)
}

func attached(s loose.Object) (files []skein.File, blobs []skein.Blob) {
	for _, v := range s.List("attachments") {
		a, err := loose.Parse(v)
		if err != nil {
			continue
		}
		f, blob := loose.Attach(a.Str("filename"), a.Str("mime"), a.Str("url"))
		if f == nil {
			continue
		}
		files = append(files, *f)
		if blob != nil {
			blobs = append(blobs, *blob)
		}
	}
	return files, blobs
}

func stateOf(status string) skein.CallState {
	switch s := skein.CallState(status); s {
	case skein.Pending, skein.Running, skein.Completed, skein.Failed:
		return s
	}
	return skein.Uncertain
}

// metaOf returns what else a call's state has, without the output that a shell
// repeats there.
func metaOf(s, o loose.Object) json.RawMessage {
	state := s.Obj("metadata")
	if out, ok := state.Text("output"); ok {
		if said, is := s.Text("output"); is && said == out {
			state = mustParse(state.Without("output"))
		}
	}
	m := struct {
		State     json.RawMessage `json:"metadata,omitempty"`
		Call      json.RawMessage `json:"call_metadata,omitempty"`
		Compacted skein.Time      `json:"compacted,omitzero"`
	}{Call: loose.Raw(o.Get("metadata"))}
	if len(state) > 0 {
		m.State = loose.Raw(state.Without())
	}
	times := s.Obj("time")
	m.Compacted = loose.Millis(times.Get("compacted"))
	if m.State == nil && m.Call == nil && m.Compacted == 0 {
		return nil
	}
	return skein.MustJSON(m)
}

func mustParse(b []byte) loose.Object {
	o, _ := loose.Parse(b) // Without made it
	return o
}
