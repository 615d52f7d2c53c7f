package cursor

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// when returns a time as text or in milliseconds.
func when(v jsontext.Value) skein.Time {
	if t := loose.Stamp(v); t != 0 {
		return t
	}
	return loose.Millis(v)
}

// bubble reads a message: its text and reasoning, or one tool call with its result.
func (r *composer) bubble(m *interop.Made, b loose.Object) {
	at := when(b.Get("createdAt"))
	timing := b.Obj("timingInfo")
	if at == 0 {
		at = when(timing.Get("clientStartTime"))
	}
	text, _ := b.Text("text")
	if b.Count("type") == 1 {
		r.asks(m, at, b, text)
		return
	}
	said := skein.Message{Role: skein.RoleAssistant, Model: r.model}
	if model := b.Obj("modelInfo").Str("modelName"); model != "" && model != "default" {
		said.Model = model
	}
	if t := b.Obj("tokenCount"); t != nil {
		if u := (skein.Usage{Input: t.Count("inputTokens"), Output: t.Count("outputTokens")}); u != (skein.Usage{}) {
			said.Usage = &u
		}
	}
	if e := b.Obj("errorDetails"); e != nil {
		said.Error = &skein.ErrorInfo{Kind: e.Str("error", "code"), Message: e.Str("message", "detail", "error")}
	}
	if thought := thoughtOf(b); thought != "" {
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought)})
	}
	if text != "" {
		said.Parts = append(said.Parts, skein.TextPart(text))
	}
	tool := b.Obj("toolFormerData")
	call := callOf(tool, b.Str("bubbleId"))
	if call != nil {
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartCall, Call: call})
	}
	if len(said.Parts) > 0 || said.Usage != nil || said.Error != nil {
		if said.Parts == nil {
			said.Parts = []skein.Part{}
		}
		r.put(m, skein.Say(at, said))
	}
	if call != nil {
		r.ran(m, at, when(timing.Get("clientEndTime")), call, tool)
	}
}

// thoughtOf returns the model's reasoning.
func thoughtOf(b loose.Object) string {
	if s, ok := b.Text("thinking"); ok {
		return s
	}
	s, _ := b.Obj("thinking").Text("text")
	return s
}

// asks adds what the user typed, with the images that were sent.
func (r *composer) asks(m *interop.Made, at skein.Time, b loose.Object, text string) {
	said := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{}}
	var blobs []skein.Blob
	if text != "" {
		said.Parts = asked(text)
	}
	for _, v := range b.List("images") {
		data := loose.Str(v)
		if o, err := loose.Parse(v); err == nil {
			data = o.Str("data", "url", "path")
		}
		if f, blob := loose.Attach("", "", data); f != nil {
			said.Parts = append(said.Parts, skein.Part{Kind: skein.PartFile, File: f})
			if blob != nil {
				blobs = append(blobs, *blob)
			}
		}
	}
	if uris := b.List("workspaceUris"); len(uris) > 0 {
		r.in(pathOf(loose.Str(uris[0])))
	}
	r.put(m, skein.Say(at, said), blobs...)
}

// callOf returns a bubble's call, nil if it has none.
func callOf(t loose.Object, bubble string) *skein.Call {
	name := t.Str("name", "tool")
	if t == nil || name == "" {
		return nil
	}
	id, _, _ := strings.Cut(t.Str("toolCallId"), "\n") // some providers' have two lines
	if id == "" {
		id = bubble
	}
	c := &skein.Call{ID: id, Name: name, Input: loose.Inner(t.Get("rawArgs"))}
	if len(c.Input) == 0 || string(c.Input) == "{}" || string(c.Input) == `""` {
		if params := loose.Inner(t.Get("params")); params != nil {
			c.Input = params
		}
	}
	return c
}

// ran adds a call's state and result.
func (r *composer) ran(m *interop.Made, at, end skein.Time, call *skein.Call, t loose.Object) {
	status := t.Str("status")
	if s := t.Obj("additionalData").Str("status"); s == "error" {
		status = s
	}
	st := skein.ToolState{Call: call.ID, State: stateOf(status), Start: at, End: end}
	raw := loose.Inner(t.Get("result"))
	o, err := loose.Parse(jsontext.Value(raw))
	if err == nil && strings.HasPrefix(call.Name, "task") {
		st.Child = skein.SessionID(o.Str("agentId", "subagentComposerId"))
	}
	r.put(m, skein.NewEvent(skein.KindTool, max(at, end), st))
	if st.State == skein.Pending || st.State == skein.Running {
		return
	}
	res := &skein.Result{CallID: call.ID, Name: call.Name, Failed: st.State == skein.Failed}
	switch {
	case err == nil:
		res.Raw = raw
		for _, name := range []string{"output", "contents", "content", "diff", "result", "error"} {
			if text := o.Str(name); text != "" {
				res.Text = skein.Text(text)
				break
			}
		}
	default:
		if text, ok := skein.Unquote(raw); ok {
			res.Text = skein.Text(text)
		} else {
			res.Raw = raw
		}
	}
	if e := loose.Inner(t.Get("error")); res.Text == "" && e != nil {
		o, _ := loose.Parse(jsontext.Value(e))
		res.Text, res.Failed = skein.Text(o.Str("clientVisibleErrorMessage", "modelVisibleErrorMessage", "message")), true
	}
	r.put(m, skein.Say(max(at, end), skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}))
}

func stateOf(status string) skein.CallState {
	switch status {
	case "completed", "success", "accepted":
		return skein.Completed
	case "loading", "running":
		return skein.Running
	case "pending", "created":
		return skein.Pending
	case "":
		return skein.Uncertain
	}
	return skein.Failed
}
