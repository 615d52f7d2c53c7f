package gemini

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A toolCall is a call in a message, with its result.
type toolCall struct {
	call   skein.Call
	pieces []piece // its state and its result
}

// toolCalls reads the calls of a message.
func (r *reader) toolCalls(id string, o loose.Object) (all []toolCall) {
	for i, v := range o.List("toolCalls") {
		c, err := loose.Parse(v)
		if err != nil {
			continue
		}
		t := toolCall{call: skein.Call{ID: c.Str("id"), Name: c.Str("name"), Input: loose.Raw(c.Get("args"))}}
		if t.call.ID == "" {
			t.call.ID = fmt.Sprintf("gm:%s:call:%d", short(id), i)
		}
		at := loose.Stamp(c.Get("timestamp"))
		if at == 0 {
			at = loose.Stamp(o.Get("timestamp"))
		}
		state := stateOf(c.Str("status"))
		meta := loose.Raw(c.Without("id", "name", "args", "result", "timestamp"))
		ev := skein.ToolState{Call: t.call.ID, State: state, Title: titleOf(c), Child: childOf(c), Meta: meta}
		if ended(state) {
			ev.End = at
		}
		if c.Str("status") == awaiting {
			ev.Ask = cmp.Or(ev.Title, t.call.Name)
		}
		t.pieces = append(t.pieces, piece{slot: "call:" + t.call.ID, event: skein.NewEvent(skein.KindTool, at, ev)})
		if p, ok := r.toolResult(id, t.call, c, state); ok {
			p.event.Time = at
			t.pieces = append(t.pieces, p)
		}
		all = append(all, t)
	}
	return all
}

// awaiting is the status of a call that a person must permit.
const awaiting = "awaiting_approval"

// stateOf reads a call's status. A cancelled call has failed.
func stateOf(status string) skein.CallState {
	switch status {
	case "success":
		return skein.Completed
	case "error", "cancelled":
		return skein.Failed
	case "executing":
		return skein.Running
	case "validating", "scheduled", awaiting:
		return skein.Pending
	}
	return skein.Uncertain
}

func ended(s skein.CallState) bool { return s == skein.Completed || s == skein.Failed }

// titleOf returns a short description of a call: older versions have the tool's whole
// description there.
func titleOf(c loose.Object) string {
	if d := c.Str("description"); d != "" && len(d) <= 200 && !strings.Contains(d, "\n") {
		return d
	}
	return c.Str("displayName")
}

// childOf returns the session that a call started.
func childOf(c loose.Object) skein.SessionID {
	id := skein.SessionID(c.Str("agentId"))
	if id.Check() != nil {
		return ""
	}
	return id
}

// ownResult returns the part of a list that is the result of one call: a session that
// was resumed has the results of all calls of a message under each of them. What
// follows a result, such as a file, belongs to it.
func ownResult(v jsontext.Value, call skein.Call) jsontext.Value {
	if v.Kind() != '[' {
		return v
	}
	all := loose.Elements(v)
	var starts, named []int
	at := -1
	for i, e := range all {
		o, err := loose.Parse(e)
		f := o.Obj("functionResponse")
		if err != nil || f == nil {
			continue
		}
		starts = append(starts, i)
		if f.Str("id") == call.ID && at < 0 {
			at = len(starts) - 1
		}
		if f.Str("id") == "" && f.Str("name") == call.Name {
			named = append(named, len(starts)-1)
		}
	}
	if at < 0 && len(named) == 1 {
		at = named[0]
	}
	switch {
	case len(starts) < 2:
		return v
	case at < 0:
		return nil // none of them belongs to this call
	}
	from, to := starts[at], len(all)
	if at == 0 {
		from = 0
	}
	if at+1 < len(starts) {
		to = starts[at+1]
	}
	return jsontext.Value(skein.MustJSON(all[from:to]))
}

// toolResult reads a tool's result: parts, of which one is the response and the
// others are files; without parts, what was shown.
func (r *reader) toolResult(id string, call skein.Call, c loose.Object, state skein.CallState) (p piece, ok bool) {
	s := r.gather(id, ownResult(c.Get("result"), call))
	res := &skein.Result{}
	if len(s.results) > 0 {
		res = s.results[0].Result
	}
	shown, isText := c.Text("resultDisplay")
	switch texts := s.texts(); {
	case len(texts) > 0:
		res.Text += skein.Text(strings.Join(texts, "\n\n"))
	case len(s.results) == 0 && len(s.parts) == 0 && (!ended(state) || !isText):
		return p, false
	case len(s.results) == 0 && len(s.parts) == 0:
		res.Text = skein.Text(shown)
	}
	for _, part := range s.parts {
		if part.File != nil {
			res.Files = append(res.Files, *part.File)
		}
	}
	res.CallID, res.Name = call.ID, call.Name
	res.Failed = res.Failed || state == skein.Failed
	r.calls[call.ID] = id
	m := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}
	return piece{slot: "result:" + call.ID, event: skein.Say(0, m), blobs: s.blobs}, true
}
