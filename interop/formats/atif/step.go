package atif

import (
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A piece is an event that a record makes.
type piece struct {
	event skein.Event
	blobs []skein.Blob
	to    int
}

func noted(name string, at skein.Time, data json.RawMessage) skein.Event {
	return skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: Name + ":" + name, Data: data})
}

// pieces reads a step.
func (t *trajectory) pieces(o loose.Object) (ps []piece) {
	t.steps++
	at := loose.Stamp(o.Get("timestamp"))
	if at == 0 {
		at, _ = loose.SQLTime(loose.Str(o.Get("timestamp")))
	}
	source := o.Str("source")
	if source != "user" && source != "agent" && source != "system" {
		ps = []piece{{event: noted("step", at, loose.Raw(o.Without()))}}
		t.items++
		return ps
	}
	if p, ok := t.compaction(o, at); ok {
		ps = append(ps, p)
	} else if p, ok := t.said(o, source, at); ok {
		ps = append(ps, p)
	}
	ps = append(ps, t.observation(o, at, len(ps))...)
	t.items += len(ps)
	return ps
}

// said reads what was said in a step; ok is false if nothing was.
func (t *trajectory) said(o loose.Object, source string, at skein.Time) (p piece, ok bool) {
	c := t.content(o.Get("message"))
	msg := skein.Message{Role: skein.RoleUser, Parts: c.parts, Meta: rest(o)}
	switch source {
	case "system":
		msg.Role = skein.RoleSystem
	case "agent":
		t.answer(&msg, o)
	}
	own(&msg, o.Obj("extra").Obj("skein"))
	if source == "agent" && string(o.Get("llm_call_count")) == "0" {
		msg.Synthetic = true // no model was asked
	}
	if len(msg.Parts) == 0 && source != "agent" {
		return p, false
	}
	if msg.Parts == nil {
		msg.Parts = []skein.Part{}
	}
	return piece{event: skein.Say(at, msg), blobs: c.blobs}, true
}

// answer reads the members that only the agent's steps have.
func (t *trajectory) answer(msg *skein.Message, o loose.Object) {
	msg.Role, msg.Model = skein.RoleAssistant, o.Str("model_name")
	if msg.Model == "" {
		msg.Model = t.head.Obj("agent").Str("model_name")
	}
	if text, ok := o.Text("reasoning_content"); ok && text != "" {
		msg.Parts = append([]skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(text)}}, msg.Parts...)
	}
	for i, v := range o.List("tool_calls") {
		c, err := loose.Parse(v)
		if err != nil {
			continue
		}
		call := &skein.Call{ID: t.callID(c.Str("tool_call_id"), i), Name: c.Str("function_name"), Input: loose.Raw(c.Get("arguments"))}
		msg.Parts = append(msg.Parts, skein.Part{Kind: skein.PartCall, Call: call, Meta: loose.Raw(c.Get("extra"))})
	}
	if u := usage(o.Obj("metrics")); u != (skein.Usage{}) && !o.Yes("is_copied_context") {
		msg.Usage = &u
		t.used = t.used.Plus(u)
	}
}

// callID returns the ID of a call, made up if it has none.
func (t *trajectory) callID(id string, n int) string {
	if id != "" {
		return id
	}
	return fmt.Sprintf("atif:%d:%d", t.steps, n)
}

// own reads what skein wrote about a message for lack of a member in the format.
func own(msg *skein.Message, o loose.Object) {
	if r := o.Str("role"); r == string(skein.RoleSteer) && msg.Role == skein.RoleUser {
		msg.Role = skein.RoleSteer
	}
	msg.Provider, msg.Stop = o.Str("provider"), o.Str("stop")
	msg.Synthetic, msg.Interrupted = o.Yes("synthetic"), o.Yes("interrupted")
	if e := o.Obj("error"); e != nil {
		msg.Error = &skein.ErrorInfo{Kind: e.Str("kind"), Message: e.Str("message"), Status: int(o.Count("status"))}
	}
}

// rest returns what else a step has.
func rest(o loose.Object) json.RawMessage {
	raw := o.Without("step_id", "timestamp", "source", "message", "model_name", "reasoning_content", "tool_calls", "observation")
	if len(raw) > len("{}") {
		return loose.Raw(raw)
	}
	return nil
}

// compaction reads a system step with which the context begins again. In a trajectory
// inside the document, which is one record, there is no earlier record to point to.
func (t *trajectory) compaction(o loose.Object, at skein.Time) (p piece, ok bool) {
	c := o.Obj("extra").Obj("context_management")
	if t.name != "" || o.Str("source") != "system" || c.Str("type") != "compaction" || c.Str("boundary") != "replace" || t.items == 0 {
		return p, false
	}
	summary := ""
	for _, part := range t.content(o.Get("message")).parts {
		summary += string(part.Text)
	}
	e := skein.NewEvent(skein.KindCompacted, at, skein.Compacted{
		Summary: skein.Text(summary).UTF8(), Before: c.Count("tokens_before"), After: c.Count("tokens_after"), Trigger: c.Str("trigger"),
	})
	return piece{event: e, to: t.items}, true
}

// observation reads the results in a step, after the given number of its events.
func (t *trajectory) observation(o loose.Object, at skein.Time, before int) (ps []piece) {
	msg := skein.Message{Role: skein.RoleTool}
	var blobs []skein.Blob
	var states []piece
	calls := o.List("tool_calls")
	for i, v := range o.Obj("observation").List("results") {
		r, err := loose.Parse(v)
		if err != nil {
			continue
		}
		id := r.Str("source_call_id")
		if id == "" && len(calls) == 1 {
			c, _ := loose.Parse(calls[0])
			id = t.callID(c.Str("tool_call_id"), 0)
		}
		if id == "" {
			id = fmt.Sprintf("atif:%d:result:%d", t.steps, i)
		}
		for _, ref := range r.List("subagent_trajectory_ref") {
			states = append(states, t.refers(id, ref, at, t.items+before+len(states)+1))
		}
		if sub := r.Obj("subagent_trajectory_ref"); sub != nil { // earlier versions have no list
			states = append(states, t.refers(id, r.Get("subagent_trajectory_ref"), at, t.items+before+len(states)+1))
		}
		if loose.IsNull(r.Get("content")) && r.Has("subagent_trajectory_ref") {
			continue
		}
		res, bs := t.result(id, r)
		blobs = append(blobs, bs...)
		msg.Parts = append(msg.Parts, skein.Part{Kind: skein.PartResult, Result: res, Meta: loose.Raw(r.Get("extra"))})
	}
	if ps = states; len(msg.Parts) > 0 {
		ps = append(ps, piece{event: skein.Say(at, msg), blobs: blobs})
	}
	return ps
}

// refers makes the event of a call that started another trajectory.
func (t *trajectory) refers(call string, v jsontext.Value, at skein.Time, ordinal int) piece {
	o, _ := loose.Parse(v)
	state := skein.ToolState{Call: call, State: skein.Completed, Title: o.Str("trajectory_path"), Meta: loose.Raw(v)}
	if id := o.Str("trajectory_id"); id != "" {
		t.children[id] = ref{call, ordinal}
	}
	child := skein.SessionID(o.Str("trajectory_id", "session_id"))
	if o.Str("trajectory_path") != "" && child.Check() == nil {
		state.Child = child
	}
	return piece{event: skein.NewEvent(skein.KindTool, at, state)}
}

// result reads a tool's result.
func (t *trajectory) result(id string, r loose.Object) (*skein.Result, []skein.Blob) {
	c := t.content(r.Get("content"))
	res := &skein.Result{CallID: id, Failed: r.Obj("extra").Yes("is_error")}
	for _, p := range c.parts {
		switch {
		case p.File != nil:
			res.Files = append(res.Files, *p.File)
		case p.Kind == skein.PartText && res.Text == "":
			res.Text = p.Text
		case p.Kind == skein.PartText:
			res.Text += "\n" + p.Text
		default:
			res.Raw = p.Raw
		}
	}
	return res, c.blobs
}
