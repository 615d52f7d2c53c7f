package codex

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// eventLines reads the event_msg lines.
type eventLines struct {
	*thread

	settings *settings
	answers  *answers
	total    *tokens
}

// event reads an event_msg. Most repeat items; those are kept as noted. The others
// have the state of a call, the cost of a request, the end of a turn.
func (ev *eventLines) event(l line) interop.Made {
	if l.Sub == "user_message" || l.Sub == "image_generation_end" {
		l.Payload = lean(l.Payload)
	}
	read, known := eventReaders()[l.Sub]
	if !known {
		return ev.note(l)
	}
	n, err := unmarshal[note](l.Payload)
	if err != nil {
		return ev.odd(l, err)
	}
	return read(ev, l, &n)
}

func eventReaders() map[string]func(*eventLines, line, *note) interop.Made {
	return map[string]func(*eventLines, line, *note) interop.Made{
		"item_completed":             (*eventLines).itemEnd,
		"task_started":               (*eventLines).started,
		"turn_started":               (*eventLines).started,
		"token_count":                (*eventLines).tokenCount,
		"exec_command_end":           (*eventLines).toolEnd,
		"patch_apply_end":            (*eventLines).toolEnd,
		"mcp_tool_call_end":          (*eventLines).toolEnd,
		"dynamic_tool_call_response": (*eventLines).toolEnd,
		"collab_agent_spawn_end":     (*eventLines).toolEnd,
		"sub_agent_activity":         (*eventLines).activity,
		"turn_aborted":               (*eventLines).aborted,
		"error":                      (*eventLines).failed,
		"stream_error":               (*eventLines).failed,
		"thread_name_updated":        (*eventLines).renamed,
		"thread_rolled_back":         (*eventLines).rolledBack,
	}
}

// lean leaves out the images, which the item has too.
func lean(payload jsontext.Value) jsontext.Value {
	const short = 4096
	if len(payload) <= short {
		return payload
	}
	return jsontext.Value(without(payload, "images", "result"))
}

func (ev *eventLines) started(l line, n *note) interop.Made {
	ev.answers.end()
	ev.place.turn = turnID(n.TurnID, ev.place.turn)
	return ev.note(l)
}

// turnID returns id if it can name a place, else the one before.
func turnID(id, before string) string {
	if len(id) < 8 || len(id) > 128 {
		return before
	}
	return id
}

// toolEnd reads how a call ended. The output is left out: the call's result has it.
// The times are left out too, since a replay has different ones; the event's own time
// is the end.
func (ev *eventLines) toolEnd(l line, n *note) interop.Made {
	if n.CallID == "" {
		return ev.note(l)
	}
	t := skein.ToolState{Call: n.CallID, State: skein.Completed, Child: skein.SessionID(n.NewThreadID)}
	t.Meta = without(l.Payload, "type", "call_id", "stdout", "stderr", "aggregated_output", "formatted_output", "result", "content_items")
	if n.failed() {
		t.State = skein.Failed
	}
	if n.Invocation.Tool != "" {
		t.Title = n.Invocation.Server + "." + n.Invocation.Tool
	}
	if t.Child != "" && t.Child.Check() != nil {
		t.Child = ""
	}
	return ev.make(l, skein.NewEvent(skein.KindTool, l.Time, t))
}

// itemEnd is toolEnd for lines with ordinals: the item is the call. Other items
// repeat what was said.
func (ev *eventLines) itemEnd(l line, n *note) interop.Made {
	o, err := loose.Parse(n.Item)
	id := o.Str("id")
	if err != nil || id == "" || ev.answers.names[id] == "" {
		return ev.note(l)
	}
	it, err := unmarshal[note](n.Item)
	if err != nil {
		return ev.note(l)
	}
	t := skein.ToolState{Call: id, State: skein.Completed}
	t.Meta = without(n.Item, "id", "aggregated_output", "formatted_output", "stdout", "stderr", "result", "content_items")
	if it.failed() {
		t.State = skein.Failed
	}
	return ev.make(l, skein.NewEvent(skein.KindTool, l.Time, t))
}

// failed reports whether the call failed.
func (n *note) failed() bool {
	status := loose.Str(n.Status)
	if n.ExitCode != nil && *n.ExitCode != 0 || n.Success != nil && !*n.Success || status == "failed" || status == "declined" {
		return true
	}
	if len(n.Result) == 0 || n.Result[0] != '{' {
		return false
	}
	res, err := unmarshal[struct {
		Err *json.RawMessage `json:"Err"`
		Ok  struct {
			IsError bool `json:"isError"`
		} `json:"Ok"`
	}](n.Result)
	return err == nil && (res.Err != nil || res.Ok.IsError)
}

// activity reads that a call started an agent.
func (ev *eventLines) activity(l line, n *note) interop.Made {
	child := skein.SessionID(n.AgentThreadID)
	id := first(n.CallID, n.EventID)
	if n.Kind != "started" || id == "" || child.Check() != nil {
		return ev.note(l)
	}
	t := skein.ToolState{Call: id, State: skein.Completed, Child: child, Meta: without(l.Payload, "type")}
	return ev.make(l, skein.NewEvent(skein.KindTool, l.Time, t))
}

// tokenCount makes a step of a new count. The same count is repeated when rate limits
// change; repetitions cost nothing.
func (ev *eventLines) tokenCount(l line, n *note) interop.Made {
	if n.Info == nil || n.Info.Total == nil && n.Info.Last == nil {
		return ev.note(l)
	}
	spent, now := ev.spent(n.Info)
	if spent == nil {
		return ev.note(l)
	}
	u := spent.usage()
	return ev.make(l, skein.NewEvent(skein.KindStep, l.Time, skein.Step{
		Phase: "finish", Request: ev.place.request(now), Provider: ev.provider, Model: ev.settings.model, Usage: &u, Several: n.Info.Last == nil,
	}))
}

// spent returns the newest request's usage, nil if there was none, and the total up
// to it.
func (ev *eventLines) spent(info *tokenInfo) (*tokens, int64) {
	if info.Total == nil {
		return info.Last, int64(ev.items)
	}
	before := ev.total
	ev.total = info.Total
	switch {
	case before != nil && *before == *info.Total:
		return nil, 0
	case info.Last != nil:
		return info.Last, info.Total.All
	case before != nil && info.Total.All >= before.All:
		more := info.Total.minus(*before)
		return &more, info.Total.All
	}
	return info.Total, info.Total.All
}

func (ev *eventLines) aborted(l line, n *note) interop.Made {
	ev.answers.end()
	return ev.make(l, skein.NewEvent(skein.KindStep, l.Time, skein.Step{Phase: "finish", Model: ev.settings.model, Stop: first(n.Reason, "aborted")}))
}

func (ev *eventLines) failed(l line, n *note) interop.Made {
	e := &skein.ErrorInfo{Message: n.Message.UTF8()}
	e.Kind, e.Status = errorInfo(n.ErrorInfo)
	return ev.make(l, skein.NewEvent(skein.KindStep, l.Time, skein.Step{Phase: "finish", Model: ev.settings.model, Error: e}))
}

// errorInfo reads codex_error_info: a word, or an object with one word and its
// details.
func errorInfo(v jsontext.Value) (kind string, status int) {
	if word := loose.Str(v); word != "" || loose.IsNull(v) {
		return word, 0
	}
	of, err := unmarshal[map[string]struct {
		Status *int `json:"http_status_code"`
	}](v)
	if err != nil || len(of) != 1 {
		return "", 0
	}
	for word, more := range of {
		kind = word
		if more.Status != nil {
			status = *more.Status
		}
	}
	return kind, status
}

// renamed gives the thread a name. Codex generates names and lets users set them, and
// does not say which it was.
func (ev *eventLines) renamed(l line, n *note) interop.Made {
	if n.ThreadID != "" && n.ThreadID != ev.id || n.ThreadName == nil {
		return ev.note(l)
	}
	made := ev.make(l, skein.NewEvent(skein.KindTitled, l.Time, skein.Titled{Title: n.ThreadName.UTF8(), By: skein.ByModel}))
	made.Floating = true
	return made
}

// rolledBack goes back to before the newest prompts.
func (ev *eventLines) rolledBack(l line, n *note) interop.Made {
	if n.NumTurns < 1 || len(ev.prompts) == 0 {
		return ev.note(l)
	}
	ev.answers.end()
	keep := max(0, len(ev.prompts)-n.NumTurns)
	to := ev.prompts[keep] - 1
	ev.prompts = ev.prompts[:keep]
	made := ev.make(l, skein.NewEvent(skein.KindRewound, l.Time, skein.Rewound{}))
	made.Items[0].To = to
	return made
}
