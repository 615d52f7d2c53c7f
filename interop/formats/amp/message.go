package amp

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// message reads one message.
func (r *reader) message(m *interop.Made, o loose.Object) {
	id := o.Str("dtwMessageID")
	if v := o.Get("messageId"); v.Kind() == '0' {
		id = string(v)
	}
	if id == "" {
		id = strconv.Itoa(r.n)
	}
	r.n++
	m.Key = skein.ClientID("amp:" + r.id + ":" + id)
	if r.fork != "" {
		m.CopyKey = skein.ClientID("amp:" + r.fork + ":" + id)
	}
	said, at := about(o)
	if said.Usage != nil {
		r.usage = true
	}
	var c blocks.Content
	var states []skein.ToolState
	for _, v := range contentOf(o) {
		b, err := loose.Parse(v)
		switch kind := b.Str("type"); {
		case err != nil:
			c = add(c, r.blocks.Read(jsontext.Value("["+string(v)+"]")))
		case kind == "summary" && b.Obj("summary").Str("summary") != "":
			r.compact(m, at, b.Obj("summary").Str("summary"))
		case kind == "tool_result" && b.Obj("run") != nil:
			states = append(states, r.ran(&c, b))
		case kind == "manual_bash_invocation":
			r.typed(&c, b)
			said.Role, said.Synthetic = skein.RoleUser, false
		default:
			c = add(c, r.blocks.Read(v))
		}
	}
	for _, s := range states {
		r.put(m, skein.NewEvent(skein.KindTool, at, s))
	}
	blobs := c.Blobs
	for _, msg := range c.Messages(said) {
		if len(msg.Parts) == 0 && (len(m.Items) > 0 || said.Usage == nil && said.Error == nil && said.Role != skein.RoleUser) {
			continue
		}
		r.put(m, skein.Say(at, msg), blobs...)
		blobs = nil
	}
}

// contentOf returns the blocks of a message: a string is one block.
func contentOf(o loose.Object) []jsontext.Value {
	v := o.Get("content")
	if v.Kind() == '"' {
		return []jsontext.Value{v}
	}
	return loose.Elements(v)
}

func add(c, more blocks.Content) blocks.Content {
	return blocks.Content{Parts: append(c.Parts, more.Parts...), Blobs: append(c.Blobs, more.Blobs...)}
}

// about returns a message without its content, and its time.
func about(o loose.Object) (said skein.Message, at skein.Time) {
	at = loose.Millis(o.Obj("meta").Get("sentAt"))
	switch role := o.Str("role"); role {
	case "assistant":
		said.Role = skein.RoleAssistant
	case "user":
		said.Role = skein.RoleUser
	default:
		said.Role, said.Synthetic = skein.RoleSystem, true
	}
	if s := o.Obj("state"); s != nil {
		said.Stop = s.Str("stopReason")
		said.Interrupted = s.Str("type") == "cancelled" || s.Str("type") == "streaming"
		if e := s.Obj("error"); e != nil && e.Str("message") != "" {
			said.Error = &skein.ErrorInfo{Kind: e.Str("type", "code"), Message: e.Str("message")}
		}
	}
	said.Interrupted = said.Interrupted || o.Yes("cancelled")
	u := o.Obj("usage")
	if u == nil {
		return said, at
	}
	said.Model = u.Str("model")
	if t := loose.Stamp(u.Get("timestamp")); t != 0 && at == 0 {
		at = t
	}
	usage := skein.Usage{
		Input: u.Count("inputTokens"), Output: u.Count("outputTokens"),
		CacheRead: u.Count("cacheReadInputTokens"), CacheWrite: u.Count("cacheCreationInputTokens"),
	}
	if strings.HasPrefix(said.Model, "gpt-") {
		usage.Input, usage.CacheWrite = usage.Input+usage.CacheWrite, 0
	}
	if usage != (skein.Usage{}) {
		said.Usage = &usage
	}
	return said, at
}

// compact adds a summary that replaces everything before.
func (r *reader) compact(m *interop.Made, at skein.Time, summary string) {
	r.put(m, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: summary}))
	m.Items[len(m.Items)-1].To = r.items - 1
}

// ran reads a tool's result and returns the tool's state.
func (r *reader) ran(c *blocks.Content, b loose.Object) skein.ToolState {
	id := b.Str("toolUseID", "tool_use_id")
	st := skein.ToolState{Call: id, State: stateOf(b.Obj("run").Str("status"))}
	if st.State != skein.Running && st.State != skein.Pending {
		res := result(c, b.Obj("run"), id, st.State)
		res.Name = r.blocks.Tool(id)
		c.Parts = append(c.Parts, skein.Part{Kind: skein.PartResult, Result: res})
	}
	return st
}

func stateOf(status string) skein.CallState {
	switch status {
	case "done":
		return skein.Completed
	case "in-progress", "running":
		return skein.Running
	case "queued", "pending", "blocked-on-user":
		return skein.Pending
	case "":
		return skein.Uncertain
	}
	return skein.Failed
}

// result returns a run's result.
func result(c *blocks.Content, run loose.Object, id string, state skein.CallState) *skein.Result {
	res := &skein.Result{CallID: id, Failed: state == skein.Failed}
	v := run.Get("result")
	o, err := loose.Parse(v)
	if err == nil {
		res.Raw = loose.Raw(v)
		for _, name := range []string{"output", "content", "diff"} {
			if text := o.Str(name); text != "" {
				res.Text = skein.Text(text)
				break
			}
		}
		if res.Text == "" && o.Get("success").Kind() == 'f' {
			res.Failed = true
		}
		if code := o.Count("exitCode"); code != 0 {
			res.Failed = true
		}
	} else {
		c.Fill(res, v)
	}
	if e := run.Obj("error"); e != nil && res.Text == "" {
		res.Text, res.Failed = skein.Text(e.Str("message")), true
	}
	if reason := run.Str("reason"); reason != "" && res.Text == "" {
		res.Text = skein.Text(reason)
	}
	return res
}

// typed reads a command that the user ran: what was typed, and its output.
func (r *reader) typed(c *blocks.Content, b loose.Object) {
	c.Parts = append(c.Parts, skein.TextPart("$ "+b.Obj("args").Str("cmd", "command")))
	var of blocks.Content
	res := result(&of, b.Obj("toolRun"), "", skein.Completed)
	c.Blobs = append(c.Blobs, of.Blobs...)
	if res.Text != "" {
		p := skein.TextPart(string(res.Text))
		p.Synthetic = true
		c.Parts = append(c.Parts, p)
	}
}
