package gemini

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A piece is one of the events that a message makes.
type piece struct {
	slot  string // which of them
	event skein.Event
	blobs []skein.Blob
	to    int // see interop.Item
}

// pieces returns what a message makes.
func (r *reader) pieces(id string, o loose.Object, raw jsontext.Value) []piece {
	at := loose.Stamp(o.Get("timestamp"))
	kind := o.Str("type")
	switch kind {
	case "user":
		return r.user(r.gather(id, o.Get("content")), o.Get("displayContent"), at)
	case "gemini", "qwen":
		return r.answer(id, o, at)
	case "":
		kind = "unknown"
	}
	level := ""
	if slices.Contains([]string{"info", "warning", "error"}, kind) {
		level = kind
	}
	return []piece{{slot: "note", event: noted(kind, level, at, raw)}}
}

// maxName is the longest name of a noted event, in bytes.
const maxName = 100

// noted returns the event that keeps a record unchanged.
func noted(kind, level string, at skein.Time, raw jsontext.Value) skein.Event {
	name := "gemini:" + kind
	if len(name) > maxName {
		name = skein.Text(name[:maxName]).UTF8()
	}
	return skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: name, Level: level, Data: loose.Raw(raw)})
}

// user makes the events of a user message, or of tool results, which are user
// messages in a history that was rewritten. A result that was read already is left
// out.
func (r *reader) user(s *said, display jsontext.Value, at skein.Time) (ps []piece) {
	var answers []skein.Part
	for _, p := range s.results {
		if of := r.calls[p.Result.CallID]; of == "" || of == s.id {
			r.calls[p.Result.CallID] = s.id
			answers = append(answers, p)
		}
	}
	if len(answers) > 0 {
		ps = append(ps, piece{slot: "answers", event: skein.Say(at, skein.Message{Role: skein.RoleTool, Parts: answers}), blobs: s.blobs})
		s.blobs = nil
	}
	if len(s.parts) == 0 {
		return ps
	}
	m := skein.Message{Role: skein.RoleUser, Parts: r.typed(s, display)}
	m.Synthetic = !slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return !p.Synthetic })
	return append(ps, piece{slot: "said", event: skein.Say(at, m), blobs: s.blobs})
}

// typed returns the parts of a user's message, and marks those that the program
// inserted: if it keeps what was typed beside what it made of that, everything except
// what was typed.
func (r *reader) typed(s *said, display jsontext.Value) []skein.Part {
	shown := r.gather(s.id, display).texts()
	if len(shown) == 0 {
		for i, p := range s.parts {
			s.parts[i].Synthetic = p.Kind == skein.PartText && injected(string(p.Text))
		}
		return s.parts
	}
	texts := s.texts()
	same := len(shown) <= len(texts) && slices.Equal(texts[:len(shown)], shown)
	left := len(shown)
	for i, p := range s.parts {
		if same && p.Kind == skein.PartText && left > 0 {
			left--
			continue
		}
		s.parts[i].Synthetic = p.Kind == skein.PartText
	}
	if same {
		return s.parts
	}
	var parts []skein.Part
	for _, text := range shown {
		parts = append(parts, skein.TextPart(text))
	}
	return append(parts, s.parts...)
}

// answer makes events of what the model said: its message, its usage, and each call's
// state and result.
func (r *reader) answer(id string, o loose.Object, at skein.Time) (ps []piece) {
	s := r.gather(id, o.Get("content"))
	thoughts := thoughtsOf(o)
	parts := thoughts
	has := map[string]bool{}
	for _, p := range s.parts {
		if p.Kind == skein.PartReasoning && len(thoughts) > 0 {
			continue // the same in another form
		}
		if p.Call != nil {
			has[p.Call.ID] = true
		}
		parts = append(parts, p)
	}
	calls := r.toolCalls(id, o)
	for _, c := range calls {
		if !has[c.call.ID] {
			has[c.call.ID] = true
			parts = append(parts, skein.Part{Kind: skein.PartCall, Call: &c.call})
		}
	}
	s.parts = parts
	model := o.Str("model")
	ps = s.answer(skein.Message{Role: skein.RoleAssistant, Provider: r.provider, Model: model}, at)
	if u := usageOf(o.Obj("tokens")); u != nil {
		step := skein.Step{Phase: "finish", Request: "gm:" + r.global(id), Provider: r.provider, Model: model, Usage: u}
		ps = append(ps, piece{slot: "used", event: skein.NewEvent(skein.KindStep, at, step)})
	}
	for _, c := range calls {
		ps = append(ps, c.pieces...)
	}
	return ps
}

// answer makes the model's message from what was gathered.
func (s *said) answer(m skein.Message, at skein.Time) (ps []piece) {
	if m.Parts = s.parts; len(m.Parts) > 0 {
		ps = append(ps, piece{slot: "said", event: skein.Say(at, m), blobs: s.blobs})
	}
	if len(s.results) > 0 {
		ps = append(ps, piece{slot: "answers", event: skein.Say(at, skein.Message{Role: skein.RoleTool, Parts: s.results})})
	}
	return ps
}

func thoughtsOf(o loose.Object) (parts []skein.Part) {
	for _, v := range o.List("thoughts") {
		t, err := loose.Parse(v)
		if err != nil {
			continue
		}
		subject, _ := t.Text("subject")
		text, _ := t.Text("description")
		if subject != "" && text != "" {
			text = subject + "\n" + text
		} else if text == "" {
			text = subject
		}
		if text != "" {
			parts = append(parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text), Start: loose.Stamp(t.Get("timestamp"))})
		}
	}
	return parts
}

// usageOf reads tokens: input includes cached tokens, output excludes thoughts, and
// what tools add to the prompt is counted separately. It returns nil if nothing was
// counted.
func usageOf(t loose.Object) *skein.Usage {
	cached := t.Count("cached")
	u := skein.Usage{
		Input:     max(t.Count("input")-cached, 0) + t.Count("tool"),
		CacheRead: cached,
		Output:    t.Count("output") + t.Count("thoughts"),
		Reasoning: t.Count("thoughts"),
	}
	if u == (skein.Usage{}) {
		return nil
	}
	return &u
}
