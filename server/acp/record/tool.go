package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// A call is what is known of a tool call.
type call struct {
	id    string // in the session: the agent's own, unless it uses one twice
	said  string // ID of the message that has it
	know  object // the latest values of the members of its updates
	start skein.Time
	state skein.CallState // that was stored last; "" for none

	settled bool // its turn has ended
}

func (c *call) done() bool { return c.state == skein.Completed || c.state == skein.Failed }

// toolUpdate records a tool_call or a tool_call_update.
func (r *Recorder) toolUpdate(kind string, u object) {
	c := r.call(kind, u)
	if c == nil {
		r.note(kind, "", skein.MustJSON(u))
		return
	}
	if c.done() { // it ended before: nothing of it changes
		r.note(kind, "", skein.MustJSON(u))
		return
	}
	switch state := c.know.text("status"); {
	case state == "in_progress" && c.state != skein.Running:
		r.state(c, skein.Running, "")
	case state == "completed":
		r.result(c, skein.Completed)
	case state == "failed":
		r.result(c, skein.Failed)
	}
}

// call returns the call that an update is about, with what the update says. One that is
// new, or whose input is new, is said. It returns nil if the update names no call.
func (r *Recorder) call(kind string, u object) *call {
	id := u.text("toolCallId")
	if id == "" {
		return nil
	}
	c := r.calls[id]
	if c == nil || kind == "tool_call" && c.done() {
		r.n++
		c = &call{id: id, said: fmt.Sprintf("%s-call-%d", r.prefix, r.n), know: object{}, start: r.now()}
		if r.calls[id] != nil {
			c.id = fmt.Sprintf("%s~%d", id, r.n)
		}
		r.calls[id] = c
		r.close("")
	} else if c.done() {
		return c
	}
	was, known := string(c.know["rawInput"]), len(c.know) > 0
	for name, v := range u {
		if name != "sessionUpdate" && name != "toolCallId" && string(v) != "null" {
			c.know[name] = v
		}
	}
	if input := string(c.know["rawInput"]); !known || input != was {
		p := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.id, Name: c.name(), Input: c.know["rawInput"]}}
		r.say(nil, skein.Say(r.now(), skein.Message{ID: c.said, Role: skein.RoleAssistant, Parts: []skein.Part{p}, Model: r.told.model}))
	}
	return c
}

// name returns the name of the tool: what the agent calls it, else its kind, else the
// call's title.
func (c *call) name() string {
	claude := objectOf(objectOf(c.know["_meta"])["claudeCode"])
	return cmp.Or(c.know.text("name"), claude.text("toolName"), c.know.text("kind"), c.know.text("title"), "tool")
}

// meta returns what a result does not have room for.
func (c *call) meta() json.RawMessage {
	return meta{c.know.without("rawInput", "content", "status")}.json()
}

func (r *Recorder) state(c *call, s skein.CallState, ask string) {
	t := skein.ToolState{Call: c.id, State: s, Title: c.know.text("title"), Ask: ask, Start: c.start}
	if c.state = s; c.done() || s == skein.Uncertain {
		t.End = r.now()
	}
	r.say(nil, skein.NewEvent(skein.KindTool, r.now(), t))
}

// result records the result of a call that has ended.
func (r *Recorder) result(c *call, s skein.CallState) {
	r.close("")
	res, blobs := resultOf(c.know)
	res.CallID, res.Name, res.Failed = c.id, c.name(), s == skein.Failed
	m := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &res, Start: c.start, End: r.now(), Meta: c.meta()}}}
	r.say(blobs, skein.Say(r.now(), m))
	r.state(c, s, "")
	c.know = object{"title": c.know["title"]} // the rest is stored
}

// resultOf returns what a call's content says: texts as text, images as files, and all
// of it, but for the bytes of images, if there is more than text.
func resultOf(know object) (res skein.Result, blobs []skein.Blob) {
	var texts []string
	var rest []json.RawMessage
	plain := true
	for _, raw := range know.list("content") {
		c := objectOf(raw)
		p, b := partOf(c["content"])
		switch {
		case c.text("type") == "content" && p.Kind == skein.PartText:
			texts = append(texts, string(p.Text))
			plain = plain && len(p.Meta) == 0 && len(c) == 2
		case c.text("type") == "content" && p.Kind == skein.PartFile && p.File.Blob != "":
			res.Files, blobs, plain = append(res.Files, *p.File), append(blobs, b...), false
			c["content"] = skein.MustJSON(metaOf(p.Meta).ACP)
			raw = skein.MustJSON(c)
		default:
			plain = false
		}
		rest = append(rest, raw)
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
	if len(rest) == 0 && know.has("rawOutput") {
		var t skein.Text
		if json.Unmarshal(know["rawOutput"], &t) != nil {
			t = skein.Text(know["rawOutput"])
		}
		res.Text = t
	}
	if !plain || len(texts) > 1 {
		res.Raw = skein.MustJSON(rest)
	}
	return res, blobs
}

// settle records that calls of the turn that ended have no result.
func (r *Recorder) settle() {
	for _, id := range slices.Sorted(maps.Keys(r.calls)) {
		c := r.calls[id]
		switch {
		case c.settled:
		case c.state == skein.Running:
			r.state(c, skein.Uncertain, "")
		case !c.done():
			r.state(c, skein.Pending, "") // it never ran
		}
		c.settled = true
	}
}

// Ask records that a person is asked for a permission. params are those of
// session/request_permission.
func (r *Recorder) Ask(params []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := objectOf(params)
	r.note("session/request_permission", "", skein.MustJSON(o.without("sessionId")))
	u := objectOf(o["toolCall"])
	if c := r.call("tool_call_update", u); c != nil && !c.done() {
		r.state(c, skein.Pending, cmp.Or(c.know.text("title"), c.name()))
	}
}

// A decidedPermission is the data of the note about a permission.
type decidedPermission struct {
	Call    string          `json:"call"`
	By      string          `json:"by"`
	Asked   skein.Time      `json:"asked_at"`
	Outcome string          `json:"outcome"`          // selected, cancelled or error
	Option  string          `json:"option,omitempty"` // its ID
	Kind    string          `json:"kind,omitempty"`   // allow_once, …
	Name    string          `json:"name,omitempty"`   // what the person read
	Answer  json.RawMessage `json:"answer,omitempty"` // all of it
}

// Decided records what somebody decided: by is the name of the editor or of a guest.
// params are those of the request that was made at asked; result and failure are its
// answer.
func (r *Recorder) Decided(by string, params []byte, asked skein.Time, result, failure []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := decisionOf(by, params, asked, result, failure)
	r.say(nil, skein.NewEvent(skein.KindNoted, r.now(), d.note()))
	c := r.calls[d.Call]
	if c == nil || c.done() {
		return
	}
	if strings.HasPrefix(d.Kind, "allow") {
		r.state(c, skein.Running, "")
	} else {
		r.state(c, skein.Pending, "")
	}
}

// Decision returns the note that somebody answered a request for a permission.
func Decision(by string, params []byte, asked skein.Time, result []byte) skein.Noted {
	return decisionOf(by, params, asked, result, nil).note()
}

func (d decidedPermission) note() skein.Noted {
	return skein.Noted{Name: "acp:decision", Data: skein.MustJSON(d)}
}

func decisionOf(by string, params []byte, asked skein.Time, result, failure []byte) decidedPermission {
	o, a := objectOf(params), objectOf(objectOf(result)["outcome"])
	call := objectOf(o["toolCall"]).text("toolCallId")
	d := decidedPermission{Call: call, By: by, Asked: asked, Outcome: cmp.Or(a.text("outcome"), "error"), Option: a.text("optionId"), Answer: result}
	if len(failure) > 0 {
		d.Answer = failure
	}
	for _, raw := range o.list("options") {
		if p := objectOf(raw); p.text("optionId") == d.Option && d.Option != "" {
			d.Kind, d.Name = p.text("kind"), p.text("name")
		}
	}
	if !json.Valid(d.Answer) {
		d.Answer = nil
	}
	return d
}

// A deed is the data of the note about a request that the agent made to the editor.
type deed struct {
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Failure json.RawMessage `json:"error,omitempty"`
	Asked   skein.Time      `json:"asked_at"`
}

// Did records a request and its answer: a file that was read or written, a terminal.
func (r *Recorder) Did(method string, params []byte, asked skein.Time, result, failure []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(method, "", skein.MustJSON(deed{valid(skein.MustJSON(objectOf(params).without("sessionId"))), valid(result), valid(failure), asked}))
}

func valid(b []byte) json.RawMessage {
	if !json.Valid(b) {
		return nil
	}
	return b
}
