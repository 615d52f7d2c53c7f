package skillet

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// maxCalls is the number of calls whose tool is remembered: more than are ever open
// at a time.
const maxCalls = 10000

// tool returns the name of an item's tool: its type, if it has no name.
func (it *item) tool() string {
	if it.Name != "" {
		return skein.Text(it.Name).UTF8()
	}
	name := it.Type
	for _, suffix := range []string{"_call_output", "_call_result", "_output", "_call"} {
		if cut, ok := strings.CutSuffix(name, suffix); ok {
			return cut
		}
	}
	return name
}

func (it *item) callPart() skein.Part {
	c := skein.Call{ID: skein.Text(it.call()).UTF8(), Name: it.tool(), Input: fromString(it.Arguments)}
	if c.Input == nil {
		c.Input = raw(firstOf(it.Action, it.Operation))
	}
	return skein.Part{Kind: skein.PartCall, Call: &c, Meta: it.meta()}
}

// call reads a tool call, and notes if it was not completed.
func (r *reader) call(l line, it *item) interop.Made {
	p := it.callPart()
	if len(r.tools) < maxCalls {
		r.tools[p.Call.ID] = p.Call.Name
	}
	var more []skein.Event
	switch it.Status {
	case "in_progress":
		more = append(more, skein.NewEvent(skein.KindTool, l.time, skein.ToolState{Call: p.Call.ID, State: skein.Running}))
	case "incomplete":
		more = append(more, skein.NewEvent(skein.KindTool, l.time, skein.ToolState{Call: p.Call.ID, State: skein.Uncertain}))
	}
	return r.assistant(l, said{parts: []skein.Part{p}}, nil, "", more...)
}

// result reads a tool's result. A handoff is a tool whose result says who continues.
func (r *reader) result(l line, it *item) interop.Made {
	res := skein.Result{CallID: skein.Text(it.call()).UTF8()}
	res.Name = cmp.Or(skein.Text(it.Name).UTF8(), r.tools[res.CallID], it.tool())
	delete(r.tools, res.CallID)
	var s said
	s.output(&res, firstOf(it.Output, it.Tools))
	r.group = group{}
	evs := []skein.Event{skein.Say(l.time, skein.Message{
		Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res, Meta: it.meta()}},
	})}
	if to := handedTo(&res); to != "" && to != r.agent {
		r.agent = to
		evs = append(evs, skein.NewEvent(skein.KindChanged, l.time, skein.Changed{Agent: &to}))
	}
	made := r.make(l, evs...)
	made.Items[0].Blobs = s.blobs
	return made
}

// handedTo returns the agent that continues after a result, and "" if it is not a
// handoff.
func handedTo(res *skein.Result) string {
	to, ok := strings.CutPrefix(res.Name, "transfer_to_")
	if !ok {
		return ""
	}
	var said struct{ Assistant string }
	if json.Unmarshal([]byte(res.Text), &said) == nil && said.Assistant != "" {
		return said.Assistant
	}
	return to
}

// hosted reads a tool that the provider ran itself: one item is both call and result.
func (r *reader) hosted(l line, it *item) interop.Made {
	call := it.callPart()
	if call.Call.ID == "" {
		call.Call.ID = l.id
	}
	made := r.assistant(l, said{parts: []skein.Part{call}}, nil, "")
	if it.Status == "in_progress" {
		return made
	}
	res := skein.Result{CallID: call.Call.ID, Name: call.Call.Name, Failed: it.Status == "failed"}
	var s said
	s.output(&res, firstOf(it.Output, it.Tools))
	r.group = group{}
	answer := r.make(l, skein.Say(l.time, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res}}}))
	answer.Items[0].Blobs = s.blobs
	made.Items = append(made.Items, answer.Items...)
	return made
}
