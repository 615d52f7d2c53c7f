package adk

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// An occurrence is an event as the kit keeps it: one JSON object, or columns.
type occurrence struct {
	data loose.Object
	row  foreign.Row
}

// camel spells a name as JSON of other versions does: function_call,
// functionCall.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// get returns a member of an object, in either spelling.
func get(o loose.Object, name string) jsontext.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return o.Get(camel(name))
}

func obj(o loose.Object, name string) loose.Object {
	if sub := o.Obj(name); sub != nil {
		return sub
	}
	return o.Obj(camel(name))
}

// value returns the JSON that the event has under a name.
func (e *occurrence) value(name string) jsontext.Value {
	if e.data != nil {
		return get(e.data, name)
	}
	text := e.row.Text(name)
	if b, ok := e.row.Get(name).([]byte); ok && len(b) > 0 && b[0] == '{' { // others are Python's pickles
		text = string(b)
	}
	if text == "" || !loose.Fits(text) {
		return nil
	}
	return jsontext.Value(text)
}

func (e *occurrence) object(name string) loose.Object {
	if v := e.value(name); v.Kind() == '{' {
		o, _ := loose.Parse(v) // it is an object
		return o
	}
	return nil
}

// str returns the text that the event has under a name.
func (e *occurrence) str(name string) string {
	if e.data != nil {
		return e.data.Str(name, camel(name))
	}
	return skein.Text(e.row.Text(name)).UTF8()
}

func (e *occurrence) yes(name string) bool {
	if e.data != nil {
		return get(e.data, name).Kind() == 't'
	}
	return e.row.Int(name) != 0
}

// event reads an event's row.
func (r *reader) event(m *interop.Made, row foreign.Row) {
	e := occurrence{row: row}
	if text := row.Text("event_data"); text != "" {
		var err error
		if e.data, err = loose.Parse([]byte(text)); err != nil || !loose.Fits(text) {
			m.Damage = "event_data is no JSON object"
			e.data = loose.Object{}
		}
	}
	at := r.stamp(m, &e)
	m.Key = skein.ClientID("adk:" + hash(r.name)[:16] + ":" + row.Text("id"))
	invocation := e.str("invocation_id")
	if invocation == "" {
		invocation = row.Text("invocation_id")
	}
	if _, ok := r.invocations[invocation]; !ok && len(r.invocations) < maxInvocations {
		r.invocations[invocation] = len(r.times)
	}
	actions := r.actions(e.object("actions"))
	if to, ok := r.invocations[actions.rewind]; ok && actions.rewind != "" {
		r.put(m, skein.NewEvent(skein.KindRewound, at, skein.Rewound{}))
		m.Items[0].To = to
		return
	}
	if actions.compaction != nil {
		r.compaction(m, at, actions.compaction)
		return
	}
	r.say(m, at, &e, actions)
	if actions.transfer != "" {
		r.put(m, skein.NewEvent(skein.KindChanged, at, skein.Changed{Agent: &actions.transfer}))
	}
}

// maxInvocations is the number of invocations whose beginning a reader remembers.
const maxInvocations = 1 << 18

// stamp returns the time of an event. The time in its JSON is absolute; the column
// can be in the writer's time zone.
func (r *reader) stamp(m *interop.Made, e *occurrence) skein.Time {
	if n, ok := loose.Number(get(e.data, "timestamp")); ok && loose.Epoch(n) != 0 {
		return loose.Epoch(n)
	}
	t, ok := loose.SQLTime(e.row.Get("timestamp"))
	if !ok {
		m.Damage = fmt.Sprintf("timestamp %.40q is no time", fmt.Sprint(e.row.Get("timestamp")))
	}
	return t
}

// say reads what was said, or notes an event that is not a message.
func (r *reader) say(m *interop.Made, at skein.Time, e *occurrence, actions actions) {
	author := e.str("author")
	var s said
	s.Parts = []skein.Part{}
	for i, v := range obj(loose.Object{{Name: "c", Value: e.value("content")}}, "c").List("parts") {
		p, _ := loose.Parse(v) // a value that is not an object has no kind
		s.Parts = append(s.Parts, r.part(&s, v, p, fmt.Sprintf("%s:%d", e.row.Text("id"), i)))
	}
	heard := r.heard(&s, e)
	switch {
	case author == "user" || heard:
		s.Role = skein.RoleUser
	default:
		s.Role = skein.RoleAssistant
		if s.Agent = author; author == r.app {
			s.Agent = ""
		}
		s.Model, s.Stop, s.Usage = e.str("model_version"), e.str("finish_reason"), usageOf(e.object("usage_metadata"))
		if s.Usage != nil {
			s.Request = string(m.Key)
		}
	}
	if n := s.results; n > 0 && n == len(s.Parts) {
		s.Role = skein.RoleTool
	}
	if code, text := e.str("error_code"), e.str("error_message"); code != "" || text != "" {
		s.Error = &skein.ErrorInfo{Kind: code, Message: text}
	}
	s.Interrupted = e.yes("interrupted")
	if len(s.Parts) == 0 && s.Error == nil && s.Usage == nil {
		if rest := e.rest(actions); rest != nil {
			r.put(m, skein.NewEvent(skein.KindNoted, at, skein.Noted{Name: "adk:event", Data: rest}))
		}
		return
	}
	s.Meta = e.meta(actions)
	r.put(m, skein.Say(at, s.Message), s.blobs...)
	r.waits(m, at, e, s.Parts, author)
}

// heard adds a transcription of speech if an event has nothing else; it returns true
// if the user spoke.
func (r *reader) heard(s *said, e *occurrence) bool {
	for _, name := range []string{"input_transcription", "output_transcription"} {
		if text, ok := e.object(name).Text("text"); ok && len(s.Parts) == 0 {
			s.Parts = append(s.Parts, skein.TextPart(text))
			return name == "input_transcription"
		}
	}
	return false
}

// waits marks calls whose answers come from outside, and such an answer when it has
// come.
func (r *reader) waits(m *interop.Made, at skein.Time, e *occurrence, parts []skein.Part, author string) {
	long := map[string]bool{}
	for _, name := range []string{"long_running_tool_ids", "long_running_tool_ids_json"} {
		for _, v := range loose.Elements(e.value(name)) {
			long[loose.Str(v)] = true
		}
	}
	for _, p := range parts {
		switch {
		case p.Call != nil && long[p.Call.ID]:
			r.remember(p.Call.ID, call{p.Call.Name, true})
			r.put(m, skein.NewEvent(skein.KindTool, at, skein.ToolState{
				Call: p.Call.ID, State: skein.Running, Start: at, Meta: json.RawMessage(`{"long_running":true}`),
			}))
		case p.Result != nil && author == "user" && r.tools[p.Result.CallID].long:
			s := skein.ToolState{Call: p.Result.CallID, State: skein.Completed, End: at}
			if p.Result.Failed {
				s.State = skein.Failed
			}
			r.put(m, skein.NewEvent(skein.KindTool, at, s))
		}
	}
}

// meta returns what an event says besides its content; nil for nothing.
func (e *occurrence) meta(actions actions) json.RawMessage {
	about := map[string]json.RawMessage{}
	if branch := e.str("branch"); branch != "" {
		about["branch"] = skein.MustJSON(branch)
	}
	for _, name := range []string{"grounding_metadata", "citation_metadata", "custom_metadata"} {
		if v := loose.Raw(e.value(name)); v != nil {
			about[name] = v
		}
	}
	if actions.rest != nil {
		about["actions"] = actions.rest
	}
	if len(about) == 0 {
		return nil
	}
	return skein.MustJSON(about)
}

// rest returns an event that is not a message; nil if it says nothing.
func (e *occurrence) rest(actions actions) json.RawMessage {
	about := e.meta(actions)
	if e.data == nil {
		return about
	}
	own := []string{"id", "timestamp", "author", "content", "actions"}
	for _, name := range []string{"invocation_id", "branch", "grounding_metadata", "citation_metadata", "custom_metadata"} {
		own = append(own, name, camel(name))
	}
	more := e.data.Without(own...)
	switch {
	case len(more) <= 2:
		return about
	case about == nil:
		return loose.Raw(more)
	}
	return json.RawMessage(string(about[:len(about)-1]) + "," + string(more[1:]))
}

// usageOf returns what a model's answer used, nil if unknown. The prompt includes
// cached tokens; the answer excludes thoughts.
func usageOf(o loose.Object) *skein.Usage {
	count := func(name string) int64 { return o.Count(name, camel(name)) }
	u := skein.Usage{
		Input: count("prompt_token_count"), CacheRead: count("cached_content_token_count"),
		Reasoning: count("thoughts_token_count"),
	}
	u.Input = max(u.Input-u.CacheRead, 0) + count("tool_use_prompt_token_count")
	u.Output = count("candidates_token_count") + u.Reasoning
	if u == (skein.Usage{}) {
		return nil
	}
	return &u
}
