package cline

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/blocks"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// message reads a message to or from the model.
func (r *reader) message(m *interop.Made, t *thread, o loose.Object) {
	r.told = true
	at := loose.Millis(o.Get("ts"))
	t.n++
	name := o.Str("id")
	if name == "" && at != 0 {
		name = strconv.FormatInt(int64(at), 10) + ":" + o.Str("role", "type")
	}
	if name == "" {
		name = strconv.Itoa(t.n - 1)
	}
	m.Key = skein.ClientID("cline:" + r.id + ":" + t.name + ":" + name)
	if at == 0 && t == r.main {
		at = r.last
	}
	said := skein.Message{Role: skein.RoleAssistant}
	switch role := o.Str("role"); role {
	case "user", "tool":
		said.Role = skein.Role(role)
	case "system":
		said.Role, said.Synthetic = skein.RoleSystem, true
	}
	c := r.content(t, said.Role, o)
	switch {
	case o.Yes("isSummary"):
		r.compact(m, t, at, c, o)
		return
	case said.Role == skein.RoleUser:
		if dir := folderIn(c.Parts); dir != "" {
			t.in(dir)
		}
		said.Synthetic = true
		for _, p := range c.Parts {
			said.Synthetic = said.Synthetic && (p.Synthetic || p.Kind == skein.PartResult)
		}
	case said.Role == skein.RoleAssistant:
		r.spent(t, &said, at, o)
	}
	blobs := c.Blobs
	for _, msg := range c.Messages(said) {
		r.put(m, t, skein.Say(at, msg), blobs...)
		blobs = nil
	}
}

// content returns a message's content, with tools in XML parsed.
func (r *reader) content(t *thread, role skein.Role, o loose.Object) (c blocks.Content) {
	content := o.Get("content")
	if o.Str("type") == "reasoning" { // of an OpenAI model, a message of its own
		content = jsontext.Value("[" + string(o.Without("ts", "id")) + "]")
	}
	got := t.native.Read(content)
	c.Blobs = got.Blobs
	if thought := o.Str("reasoning_content"); thought != "" {
		c.Parts = append(c.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought)})
	}
	switch {
	case role == skein.RoleAssistant:
		for _, p := range got.Parts {
			if p.Kind == skein.PartText {
				c.Parts = append(c.Parts, t.calls(string(p.Text))...)
			} else {
				c.Parts = append(c.Parts, p)
			}
		}
	case role == skein.RoleUser:
		c.Parts = t.answers(got.Parts)
	default:
		c.Parts = got.Parts
	}
	return c
}

// compact adds a summary of what came before. Before 2026 what it covers was removed
// from the file.
func (r *reader) compact(m *interop.Made, t *thread, at skein.Time, c blocks.Content, o loose.Object) {
	said := skein.Message{Parts: c.Parts}
	r.put(m, t, skein.NewEvent(skein.KindCompacted, at, skein.Compacted{Summary: said.Words()}))
	m.Items[len(m.Items)-1].To = r.items[t.name] - 1
	m.Instead = o.Str("condenseId") == ""
}

// spent notes the model that answered, and its usage: for a task, that comes from
// what is shown, if there is any.
func (r *reader) spent(t *thread, said *skein.Message, at skein.Time, o loose.Object) {
	if i := o.Obj("modelInfo"); i != nil {
		t.model = used{at, i.Str("providerId", "provider"), i.Str("modelId", "id")}
	} else if t == r.main {
		if u := r.modelAt(at); u.model != "" {
			t.model = u
		}
	}
	said.Provider, said.Model = t.model.provider, t.model.model
	metrics := o.Obj("metrics")
	if metrics == nil {
		return
	}
	tokens := metrics.Obj("tokens")
	if tokens == nil {
		tokens = metrics
	}
	u := skein.Usage{
		Input: tokens.Count("prompt", "inputTokens"), Output: tokens.Count("completion", "outputTokens"),
		CacheRead: tokens.Count("cached", "cacheReadTokens"), CacheWrite: tokens.Count("cacheWriteTokens"),
		Reported: loose.Billionths(metrics.Get("cost")),
	}
	// A session's inputTokens are the whole prompt, a task's prompt only what was
	// not cached: https://github.com/HarnessRouter/harnessrouter/pull/209,
	// 2026-09-18.
	if tokens.Has("inputTokens") || countsCached(said.Provider) {
		uncache(&u)
	}
	switch {
	case u == (skein.Usage{}):
	case tokens.Has("prompt"):
		r.metrics = append(r.metrics, skein.NewEvent(skein.KindStep, at, skein.Step{
			Phase: "finish", Request: "cline:" + r.id + ":" + strconv.Itoa(t.n-1), Provider: said.Provider, Model: said.Model, Usage: &u,
		}))
	default:
		said.Usage = &u
	}
}

// folderIn returns the folder that the program named to the model.
func folderIn(parts []skein.Part) string {
	for _, p := range parts {
		for _, mark := range []string{"# Current Working Directory (", "# Current Workspace Directory ("} {
			if _, after, ok := strings.Cut(string(p.Text), mark); ok && p.Synthetic {
				if dir, _, ok := strings.Cut(after, ") Files"); ok {
					return skein.Text(dir).UTF8()
				}
			}
		}
	}
	return ""
}

// wrappers returns the tags that the program puts around what the user typed.
func wrappers() []string {
	return []string{"task", "user_message", "feedback", "answer", "user_input"}
}

// typed returns the part of a text that the user typed, and false if the program
// wrote all of it.
func typed(text string) (string, bool) {
	trimmed := strings.TrimSpace(text)
	for _, w := range wrappers() {
		if !strings.HasPrefix(trimmed, "<"+w+">") && !strings.HasPrefix(trimmed, "<"+w+" ") {
			continue
		}
		_, inner, _ := strings.Cut(trimmed, ">")
		if at := strings.LastIndex(inner, "</"+w+">"); at >= 0 {
			return strings.Trim(inner[:at], "\n"), true
		}
	}
	return text, !skein.Wrapped(trimmed) && !strings.HasPrefix(trimmed, "[ERROR]")
}
