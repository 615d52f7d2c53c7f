package opencode

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// message reads a message's metadata; its content is in its parts. at is used if it
// has no time.
func (r *reader) message(m *interop.Made, id string, at skein.Time, o loose.Object) {
	r.seen = true
	times := o.Obj("time")
	if t := loose.Millis(times.Get("created")); t != 0 {
		at = t
	}
	msg := &message{at: at, role: skein.RoleAssistant, first: r.items, model: o.Str("modelID"), provider: o.Str("providerID"), agent: o.Str("agent", "mode")}
	if o.Str("role") == "user" {
		msg.role, msg.model, msg.provider = skein.RoleUser, "", ""
	}
	msg.summary = msg.role == skein.RoleAssistant && o.Yes("summary")
	if msg.summary {
		msg.tail, r.tail = r.tail, ""
	}
	failed := !loose.IsNull(o.Get("error"))
	msg.done = !failed && (o.Str("finish") != "" || !loose.IsNull(times.Get("completed")))
	msg.key = r.keyOf(id, msg.role, at)
	r.reverted = r.reverted || r.revert.message == id && r.revert.part == ""
	msg.hidden = r.reverted
	r.messages[id] = msg
	m.Key = msg.key
	if left := aside(o); len(left) > 0 {
		r.put(m, noted(at, "message", left))
	}
	if failed {
		e := o.Obj("error")
		said := r.says(msg)
		said.Error = errorOf(e)
		said.Interrupted = said.Error.Kind == "MessageAbortedError"
		r.say(m, msg, at, said)
	}
	r.inner(m, id, at, o)
	r.place(m, at, o.Obj("path"))
}

// place says where the session is, if only its answers do. It comes after what the
// message itself makes, whose numbers are the same in the versions that came later.
func (r *reader) place(m *interop.Made, at skein.Time, in loose.Object) {
	cwd, project := in.Str("cwd"), in.Str("root")
	if !r.unplaced || cwd == "" {
		return
	}
	if !isAbove(project, cwd) {
		project = cwd
	}
	r.unplaced = false
	r.put(m, skein.NewEvent(skein.KindChanged, at, skein.Changed{Cwd: &cwd, Project: &project}))
}

// inner reads the parts inside a message, as in the first versions.
func (r *reader) inner(m *interop.Made, id string, at skein.Time, o loose.Object) {
	for i, p := range o.List("parts") {
		if part, err := loose.Parse(p); err == nil {
			r.part(m, fmt.Sprintf("%s/%d", id, i), id, at, part)
		}
	}
	m.Key = r.messages[id].key
}

// keyOf returns a message's key. A fork is a copy with new IDs, so the key is made of
// what the copy keeps: who said it, and when.
func (r *reader) keyOf(id string, role skein.Role, at skein.Time) skein.ClientID {
	text := fmt.Sprintf("%s\x00%d", role, at)
	if at == 0 {
		text += "\x00" + id
	}
	sum := sha256.Sum256([]byte(text))
	key := Name + ":" + hex.EncodeToString(sum[:12])
	r.keys[key]++
	if n := r.keys[key]; n > 1 {
		key += "." + strconv.Itoa(n)
	}
	return skein.ClientID(key)
}

// aside returns what a message's row has that its parts and the session lack; nil for
// nothing.
func aside(o loose.Object) []byte {
	left := map[string]any{}
	for _, name := range []string{"system", "tools", "format", "structured", "metadata"} {
		if v := loose.Raw(o.Get(name)); v != nil {
			left[name] = v
		}
	}
	sum := o.Obj("summary")
	if len(sum.List("diffs")) > 0 || sum.Str("title", "body") != "" {
		left["summary"] = loose.Raw(o.Get("summary"))
	}
	if len(left) == 0 {
		return nil
	}
	return skein.MustJSON(left)
}

// says returns a piece of a message, without parts. What the model says after a tool
// has run is another message.
func (r *reader) says(msg *message) skein.Message {
	id := string(msg.key)
	if msg.round > 0 {
		id += "/" + strconv.Itoa(msg.round)
	}
	m := skein.Message{ID: id, Role: msg.role, Provider: msg.provider, Model: msg.model, Parts: []skein.Part{}}
	if msg.role == skein.RoleAssistant && msg.agent != "build" {
		m.Agent = msg.agent
	}
	return m
}

// say adds a message, or notes it if it was reverted: the program hides it, but keeps
// it until more is said.
func (r *reader) say(m *interop.Made, msg *message, at skein.Time, said skein.Message, blobs ...skein.Blob) {
	e := skein.Say(at, said)
	if msg.hidden {
		e = noted(at, "reverted", e.Payload)
	}
	r.put(m, e, blobs...)
}

func errorOf(o loose.Object) *skein.ErrorInfo {
	data := o.Obj("data")
	e := &skein.ErrorInfo{Kind: o.Str("name"), Message: data.Str("message")}
	if e.Message == "" {
		e.Message = o.Str("message", "name")
	}
	if n := data.Count("statusCode"); n < 1000 {
		e.Status = int(n)
	}
	return e
}

// usageOf returns a request's usage; its output excludes reasoning.
func usageOf(o loose.Object) skein.Usage {
	t := o.Obj("tokens")
	cache, reasoning := t.Obj("cache"), t.Count("reasoning")
	return skein.Usage{
		Input: t.Count("input"), Output: t.Count("output") + reasoning, Reasoning: reasoning,
		CacheRead: cache.Count("read"), CacheWrite: cache.Count("write"), Reported: loose.Billionths(o.Get("cost")),
	}
}
