package codex

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A form is how a call is written.
type form int

const (
	asFunction form = iota // function_call
	asCustom               // custom_tool_call: its input is text
	asSearch               // tool_search_call
	asShell                // local_shell_call
	asHosted               // one item that is call and result, written with the result
	asText                 // text, because Codex has no such tool
)

// A wrote is a call that was written, until its result comes.
type wrote struct {
	form form
	id   string // the call's, as written
	call *skein.Call
	meta itemMeta
	same *same // what it was turned into; nil if unchanged
}

// calls writes tool calls and their results.
type calls struct {
	*output

	messages *messages
	waiting  map[string]*wrote          // for their results, by ID
	used     map[string]bool            // IDs of calls
	children map[string]skein.SessionID // by the call that started them
}

type functionOut struct {
	Type      string `json:"type"` // function_call
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Arguments string `json:"arguments"`
	Call      string `json:"call_id"`
}

type customOut struct {
	Type   string `json:"type"` // custom_tool_call
	ID     string `json:"id,omitempty"`
	Status string `json:"status"`
	Call   string `json:"call_id"`
	Name   string `json:"name"`
	Input  string `json:"input"`
}

type shellOut struct {
	Type   string          `json:"type"` // local_shell_call
	Call   string          `json:"call_id"`
	Status string          `json:"status"`
	Action json.RawMessage `json:"action"`
}

type searchOut struct {
	Type      string          `json:"type"` // tool_search_call
	Call      string          `json:"call_id"`
	Status    string          `json:"status"`
	Execution string          `json:"execution"`
	Arguments json.RawMessage `json:"arguments"`
}

type activityOut struct {
	Type  string `json:"type"` // sub_agent_activity
	Event string `json:"event_id"`
	At    int64  `json:"occurred_at_ms"`
	Agent string `json:"agent_thread_id"`
	Path  string `json:"agent_path"`
	Kind  string `json:"kind"`
}

// call writes a tool call: unchanged if it was Codex's; else as a call of the Codex
// tool that does the same, or as text.
func (cs *calls) call(e *skein.Entry, c *skein.Call, meta json.RawMessage) {
	out := &wrote{id: callID(c.ID), call: c, meta: metaOf(meta)}
	if cs.used[out.id] && !cs.ours[e.Seq] { // a second one with that ID is a different call
		out.id = callID(c.ID + " " + cs.messages.itemID(e.Seq, len(cs.used)))
	}
	cs.used[out.id] = true
	cs.waiting[c.ID] = out
	child, ok := cs.children[c.ID]
	switch {
	case cs.ours[e.Seq]:
		cs.native(e, out)
	case ok && cs.spawn(e, out, child):
	default:
		cs.foreign(e, out)
	}
}

// callID returns a call's ID in a form that the provider accepts: at most 64 letters,
// digits, _ and -.
func callID(id string) string {
	odd := strings.ContainsFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	})
	if id == "" || len(id) > 64 || odd {
		return "call_" + short(id)
	}
	return id
}

// native writes a call that was read from Codex.
func (cs *calls) native(e *skein.Entry, out *wrote) {
	c := out.call
	input := jsontext.Value(c.Input)
	switch {
	case c.Name == "local_shell" && input.Kind() == '{':
		out.form = asShell
		cs.item(e.Time, shellOut{"local_shell_call", out.id, "completed", c.Input})
	case c.Name == "tool_search" && out.meta.Namespace == "":
		out.form = asSearch
		cs.item(e.Time, searchOut{"tool_search_call", out.id, "completed", "client", orNull(c.Input)})
	case c.Name == "web_search" || c.Name == "image_generation":
		out.form = asHosted
	case input.Kind() == '"' && !isFunction(c.Name):
		out.form = asCustom
		text, _ := skein.Unquote(input)
		cs.item(e.Time, customOut{"custom_tool_call", out.meta.ID, "completed", out.id, c.Name, text})
	default:
		cs.function(e, out, c.Name, string(c.Input))
	}
}

// isFunction reports whether a Codex tool's arguments are JSON, even if a model wrote
// something else.
func isFunction(name string) bool {
	switch name {
	case "exec_command", "write_stdin", "shell", "shell_command", "update_plan", "view_image", "spawn_agent", "request_user_input":
		return true
	}
	return false
}

func (cs *calls) function(e *skein.Entry, out *wrote, name, arguments string) {
	if v := jsontext.Value(arguments); v.Kind() == '"' {
		arguments, _ = skein.Unquote(v)
	}
	if arguments == "" {
		arguments = "{}"
	}
	out.form = asFunction
	cs.item(e.Time, functionOut{"function_call", out.meta.ID, utf8(name), out.meta.Namespace, utf8(arguments), out.id})
}

// spawn writes a call that started a session, if that is written too.
func (cs *calls) spawn(e *skein.Entry, out *wrote, child skein.SessionID) bool {
	in, err := loose.Parse(out.call.Input)
	prompt := in.Str("prompt", "message", "task", "description")
	if err != nil || prompt == "" {
		return false
	}
	id := threadID(&skein.Session{ID: child})
	if spot, ok := cs.d.Other(child); ok {
		id = spot.ID
	}
	cs.function(e, out, "spawn_agent", string(skein.MustJSON(map[string]string{"message": prompt})))
	cs.show(e.Time, activityOut{"sub_agent_activity", out.id, int64(e.Time), id, "/root/" + strings.ReplaceAll(id, "-", "_"), "started"})
	cs.lose(e.Seq, "call of "+out.call.Name+": written as Codex' spawn_agent")
	return true
}

// foreign writes a call of a tool that is not Codex's.
func (cs *calls) foreign(e *skein.Entry, out *wrote) {
	same := sameTool(out.call)
	out.same = same
	switch {
	case same == nil:
		out.form = asText
		text := "[I called the tool " + utf8(out.call.Name) + ", which no longer exists, with " + utf8(string(orNull(out.call.Input))) + "]"
		cs.messages.said(e, text, itemMeta{}, len(cs.waiting))
		cs.lose(e.Seq, "call of "+out.call.Name+": written as text, Codex has no such tool")
		return
	case same.patch != "":
		out.form = asCustom
		cs.item(e.Time, customOut{"custom_tool_call", "", "completed", out.id, "apply_patch", same.patch})
	default:
		cs.function(e, out, same.name, string(same.input()))
	}
	if same.name != out.call.Name {
		cs.lose(e.Seq, "call of "+out.call.Name+": written as Codex' "+same.name)
	}
}

func orNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

type webSearchOut struct {
	Type   string          `json:"type"` // web_search_call
	ID     string          `json:"id,omitempty"`
	Status string          `json:"status"`
	Action json.RawMessage `json:"action,omitempty"`
}

type imageCallOut struct {
	Type   string `json:"type"` // image_generation_call
	ID     string `json:"id"`
	Status string `json:"status"`
	Prompt string `json:"revised_prompt,omitempty"`
	Result string `json:"result"`
}

// hosted writes a tool that the provider ran.
func (cs *calls) hosted(e *skein.Entry, out *wrote, r *skein.Result) error {
	status := "completed"
	if r.Failed {
		status = "failed"
	}
	if out.call.Name == "web_search" {
		cs.item(e.Time, webSearchOut{"web_search_call", out.meta.ID, status, out.call.Input})
		return nil
	}
	in, _ := loose.Parse(out.call.Input) // anything else has no prompt
	item := imageCallOut{"image_generation_call", first(out.meta.ID, out.id), status, in.Str("prompt"), ""}
	if len(r.Files) > 0 && r.Files[0].Blob != "" && !cs.quiet {
		data, err := cs.d.Blob(r.Files[0].Blob)
		if err != nil {
			return err
		}
		item.Result = base64.StdEncoding.EncodeToString(data)
	}
	cs.item(e.Time, item)
	return nil
}
