package qwen

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// record makes the events of a record.
func (r *reader) record(m *making) {
	before := r.count
	message := m.Obj("message")
	switch {
	case m.kind == "system":
		r.system(m)
		return
	case m.kind != "user" && m.kind != "assistant" && m.kind != "tool_result":
		if m.out.Unknown = true; !m.run {
			r.note(m)
		}
		return
	case message == nil:
		r.note(m)
		return
	case m.kind == "user":
		r.asked(m, message)
	case m.kind == "assistant":
		r.answer(m, message)
	default:
		r.results(m, message)
	}
	r.remember(message.Get("parts"), before)
}

func (r *reader) say(m *making, said skein.Message) {
	if said.Parts == nil {
		said.Parts = []skein.Part{}
	}
	r.add(m, skein.Say(m.time, said))
}

// asked makes a message to the model.
func (r *reader) asked(m *making, message loose.Object) {
	said := skein.Message{Role: skein.RoleUser}
	parts, results := r.parts(m, message)
	switch m.sub {
	case "mid_turn_user_message":
		said.Role = skein.RoleSteer
	case "notification", "cron", "background_task_completed":
		said.Synthetic = true
	}
	switch m.Str("provenance") {
	case "goal_control", "goal_runtime", "system":
		said.Synthetic = true
	}
	if len(results) > 0 { // as in the Gemini API
		r.say(m, skein.Message{Role: skein.RoleTool, Parts: results})
		if len(parts) == 0 {
			return
		}
	}
	said.Parts = shown(parts, m.Obj("systemPayload").Str("displayText"))
	r.say(m, said)
}

// shown marks what the program added to a prompt that was shown as text: the other
// texts or, if no text equals it, all of them.
func shown(parts []skein.Part, text string) []skein.Part {
	if text == "" {
		return parts
	}
	same, within := false, false
	for _, p := range parts {
		same = same || string(p.Text) == text
		within = within || strings.Contains(string(p.Text), text)
	}
	if within && !same {
		return parts
	}
	for i := range parts {
		parts[i].Synthetic = parts[i].Kind == skein.PartText && string(parts[i].Text) != text
	}
	if !same {
		parts = append(parts, skein.TextPart(text))
	}
	return parts
}

// answer makes one of the model's messages.
func (r *reader) answer(m *making, message loose.Object) {
	parts, _ := r.parts(m, message)
	r.say(m, skein.Message{Role: skein.RoleAssistant, Model: m.Str("model"), Usage: usage(m.Obj("usageMetadata")), Parts: parts})
}

// usage returns a request's usage; nil if there is none. The prompt includes cached
// tokens. Whether the answer includes thoughts depends on the provider; the total
// shows which.
func usage(o loose.Object) *skein.Usage {
	prompt, cached := o.Count("promptTokenCount"), o.Count("cachedContentTokenCount")
	out, thoughts := o.Count("candidatesTokenCount"), o.Count("thoughtsTokenCount")
	u := skein.Usage{Input: prompt - min(cached, prompt), CacheRead: min(cached, prompt), Output: out, Reasoning: thoughts}
	if total := o.Count("totalTokenCount"); thoughts > out || thoughts > 0 && total >= prompt+out+thoughts {
		u.Output = out + thoughts
	}
	if u == (skein.Usage{}) {
		return nil
	}
	return &u
}

// maxDisplay is the maximum length of a result's display that is copied.
const maxDisplay = 16 << 10

// results makes a message of what a tool answered.
func (r *reader) results(m *making, message loose.Object) {
	parts, results := r.parts(m, message)
	info := m.Obj("toolCallResult")
	said := skein.Message{Role: skein.RoleTool, Parts: append(results, parts...)}
	status := info.Str("status")
	for _, p := range results {
		p.Result.Failed = p.Result.Failed || status == "error" || status == "cancelled"
		for _, other := range parts { // images that belong to the only result
			if other.File != nil && len(results) == 1 {
				p.Result.Files = append(p.Result.Files, *other.File)
				said.Parts = results
			}
		}
	}
	if info != nil {
		leave := []string{"callId", "responseParts"}
		if d := info.Get("resultDisplay"); d.Kind() != '{' || len(d) > maxDisplay {
			leave = append(leave, "resultDisplay")
		}
		if meta := info.Without(leave...); len(meta) > 2 {
			said.Meta = []byte(meta)
		}
	}
	r.say(m, said)
}

// system makes the events of a record that is not a message.
func (r *reader) system(m *making) {
	p := m.Obj("systemPayload")
	switch m.sub {
	case "custom_title":
		r.title(m, p)
		return // the program repeats it now and then
	case "chat_compression":
		r.compressed(m, p)
		return
	case "session_model":
		if model := p.Str("modelId"); model != "" {
			r.add(m, skein.NewEvent(skein.KindChanged, m.time, skein.Changed{Model: &model}))
		}
	}
	r.note(m)
}

func (r *reader) title(m *making, p loose.Object) {
	by, title := skein.ByPerson, strings.TrimSpace(p.Str("customTitle"))
	if p.Str("titleSource") == "auto" {
		by = skein.ByModel
	}
	if title == "" || r.titles[by] == title {
		return
	}
	r.titles[by] = title
	r.add(m, skein.NewEvent(skein.KindTitled, m.time, skein.Titled{Title: title, By: by}))
}

// compressed makes the event of a compression. The history that replaces everything
// before ends with unchanged messages: these are not covered.
func (r *reader) compressed(m *making, p loose.Object) {
	history := p.List("compressedHistory")
	to, at := r.count, len(r.said)
	for at > 0 && len(history) > 0 {
		c, _ := loose.Parse(history[len(history)-1])
		if hashOf(c.Get("parts")) != r.said[at-1].hash {
			break
		}
		at--
		to, history = r.said[at].before, history[:len(history)-1]
	}
	info := p.Obj("info")
	c := skein.Compacted{Summary: summary(history), Before: info.Count("originalTokenCount"), After: info.Count("newTokenCount")}
	r.add(m, skein.NewEvent(skein.KindCompacted, m.time, c)).To = to
}

// summary returns the text that replaces the compressed messages: a summary that the
// model acknowledged, or more.
func summary(history []jsontext.Value) string {
	var b []string
	for _, v := range history {
		c, _ := loose.Parse(v)
		var words []string
		for _, p := range c.List("parts") {
			if o, err := loose.Parse(p); err == nil && o.Str("text") != "" && !o.Yes("thought") {
				words = append(words, o.Str("text"))
			}
		}
		text := strings.Join(words, "\n")
		switch role := c.Str("role"); {
		case text == "" || role == "model" && len(history) <= 2:
		case len(history) > 2:
			b = append(b, role+": "+text)
		default:
			b = append(b, text)
		}
	}
	return strings.Join(b, "\n\n")
}
