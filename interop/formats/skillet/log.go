package skillet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A turn is what a log has of the current turn.
type turn struct {
	open  bool
	texts strings.Builder
	calls []loggedCall
}

// A loggedCall is a call of a tool that has not been answered: a log has no IDs.
type loggedCall struct{ id, agent, tool string }

// log reads line n of the log. run is [interop.Line.Run].
func (r *reader) log(n int, data []byte, run bool) (interop.Made, error) {
	text := string(bytes.TrimSpace(data))
	if text == "" {
		return interop.Made{}, nil
	}
	if !isObject(text) {
		return interop.Made{}, errors.New("it is not a JSON object")
	}
	in, err := unmarshal[logged]([]byte(text))
	if err != nil {
		return interop.Made{}, err
	}
	l := line{id: "sk:log:" + strconv.Itoa(n), text: text, run: run}
	if t, err := skein.ParseTime(in.Time); err == nil {
		l.time = t
	}
	mode, before := "log", r.count
	if !r.rows {
		mode = "turn"
	}
	l.key = skein.ClientID(fmt.Sprintf("sk:%s:%s:%d:%s", r.mark, mode, n, short(text)))
	if !in.known() && in.Model == "" {
		return r.unknown(l, "log"), nil
	}
	evs, blobs := []skein.Event{noteOf(l, &in)}, []skein.Blob(nil)
	if !r.rows {
		evs, blobs = r.eventsOfLogLine(l, &in)
	}
	made := r.make(l, evs...)
	made.Items[0].Blobs = blobs
	if r.rows {
		made.Items = append(made.Items, r.besides(l, &in, before)...)
	}
	for _, e := range r.changes(l, &in) {
		made.Items = append(made.Items, r.make(l, e).Items...)
	}
	return made, nil
}

// known reports whether Skillet writes lines of this kind.
func (in *logged) known() bool {
	switch in.Kind {
	case "user_message", "step", "final_result":
		return true
	}
	return false
}

// noteOf keeps a line of the log whole.
func noteOf(l line, in *logged) skein.Event {
	name := "log"
	if in.known() {
		name = in.Kind
	}
	return skein.NewEvent(skein.KindNoted, l.time, skein.Noted{Name: Name + ":" + name, Data: json.RawMessage(l.text)})
}

// changes returns events for a new model or agent.
func (r *reader) changes(l line, in *logged) (evs []skein.Event) {
	if in.Model != "" && in.Model != r.model {
		r.model = in.Model
		c := skein.Changed{Model: &in.Model}
		if provider, model, ok := strings.Cut(in.Model, "/"); ok {
			c.Provider, c.Model = &provider, &model
		}
		evs = append(evs, skein.NewEvent(skein.KindChanged, l.time, c))
	}
	if s := in.Step; s != nil && s.Type == "agent_start" && r.agent == "" && s.Agent != "" {
		r.agent = s.Agent
		evs = append(evs, skein.NewEvent(skein.KindChanged, l.time, skein.Changed{Agent: &r.agent}))
	}
	return evs
}

// eventsOfLogLine returns the events of a line in a session without rows, of which only the log
// is left.
func (r *reader) eventsOfLogLine(l line, in *logged) ([]skein.Event, []skein.Blob) {
	say := func(m skein.Message) []skein.Event { return []skein.Event{skein.Say(l.time, m)} }
	t := &r.turns
	switch {
	case in.Kind == "user_message":
		*t = turn{open: true}
		var s said
		s.input(in)
		return say(skein.Message{Role: skein.RoleUser, Parts: s.all()}), s.blobs
	case in.Kind == "final_result" && in.Final != nil:
		told := t.texts.String()
		*t = turn{}
		if strings.TrimSpace(string(in.Final.Text)) == strings.TrimSpace(told) {
			break
		}
		return say(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(string(in.Final.Text))}}), nil
	case in.Kind == "step" && in.Step != nil:
		if m, ok := t.step(l, in.Step); ok {
			return say(m), nil
		}
	}
	return []skein.Event{noteOf(l, in)}, nil
}

// step returns a step as a message, and false if it is not one.
func (t *turn) step(l line, s *step) (skein.Message, bool) {
	m := skein.Message{Role: skein.RoleAssistant, Agent: skein.Text(s.Agent).UTF8()}
	tool := skein.Text(s.Tool).UTF8()
	switch s.Type {
	case "text":
		t.texts.WriteString(string(s.Text))
		m.Parts = []skein.Part{skein.TextPart(string(s.Text))}
	case "agent_tool_start":
		c := skein.Call{ID: l.id, Name: tool}
		if loose.Fits(string(s.Arguments)) {
			c.Input = json.RawMessage(s.Arguments)
		} else {
			c.Input = skein.MustJSON(s.Arguments)
		}
		t.calls = append(t.calls, loggedCall{l.id, s.Agent, s.Tool})
		m.Parts = []skein.Part{{Kind: skein.PartCall, Call: &c}}
	case "agent_tool_end":
		m.Role = skein.RoleTool
		res := skein.Result{CallID: t.answer(s), Name: tool, Text: s.Result}
		if res.CallID == "" {
			res.CallID = l.id
		}
		m.Parts = []skein.Part{{Kind: skein.PartResult, Result: &res}}
	default:
		return m, false
	}
	return m, true
}

// answer removes and returns the oldest call that a result may belong to.
func (t *turn) answer(s *step) string {
	for i, c := range t.calls {
		if c.agent == s.Agent && c.tool == s.Tool {
			t.calls = append(t.calls[:i:i], t.calls[i+1:]...)
			return c.id
		}
	}
	return ""
}

// input adds what the user typed: a text, or a list of messages.
func (s *said) input(in *logged) {
	if loose.IsNull(in.Input) || in.Input[0] != '[' {
		s.list(in.Input)
		return
	}
	all, err := unmarshal[[]item](in.Input)
	if err != nil {
		s.other(in.Input)
		return
	}
	for _, it := range all {
		s.list(it.Content)
	}
}
