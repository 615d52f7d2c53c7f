package skillet

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// An outItem is an item that becomes a row.
type outItem struct {
	text lines.Rope
	seq  skein.Seq
}

// A turnOut is a turn that is being written: its rows are added together.
type turnOut struct {
	at     skein.Time // of its last message
	open   bool
	logged bool // its user_message is in the log
	items  []outItem
	final  []string // what the model said
	agent  string
	model  string
	names  map[string]string // call → tool
}

func (t *turnOut) begin(at skein.Time) {
	*t = turnOut{at: at, open: true, names: t.names}
	if t.names == nil {
		t.names = map[string]string{}
	}
}

// A userLine, a stepLine and a finalLine are the lines of a log.
type (
	userLine struct {
		Kind  string     `json:"kind"`
		Input any        `json:"userInput"`
		Time  skein.Time `json:"timestamp"`
	}
	stepLine struct {
		Kind string     `json:"kind"`
		Step any        `json:"stepResult"`
		Time skein.Time `json:"timestamp"`
	}
	finalLine struct {
		Kind  string     `json:"kind"`
		Final textOnly   `json:"finalResult"`
		Time  skein.Time `json:"timestamp"`
		Model string     `json:"model,omitempty"`
	}
	textOnly struct {
		Text skein.Text `json:"text"`
	}
	agentStep struct {
		Type  string `json:"type"`
		Agent string `json:"agentName"`
	}
	toolStart struct {
		Type  string     `json:"type"`
		Agent string     `json:"agentName"`
		Tool  string     `json:"toolName"`
		Input skein.Text `json:"toolArgumentsStr"`
	}
	toolEnd struct {
		Type   string     `json:"type"`
		Agent  string     `json:"agentName"`
		Tool   string     `json:"toolName"`
		Result skein.Text `json:"result"`
	}
	textStep struct {
		Type string     `json:"type"`
		Text skein.Text `json:"text"`
	}
)

// entry writes a message.
func (w *writer) entry(e *skein.Entry) {
	m := &e.Message
	switch m.Role {
	case skein.RoleUser, skein.RoleSteer, skein.RoleSystem:
		if m.Role == skein.RoleUser && m.Typed() {
			w.endTurn()
		}
		if m.Role == skein.RoleSteer {
			w.losses.Add(e.Seq, "steering: a user's message")
		}
	}
	if !w.turn.open {
		w.turn.begin(e.Time)
	}
	w.turn.at = max(w.turn.at, e.Time)
	switch m.Role {
	case skein.RoleAssistant:
		w.answer(e)
	case skein.RoleTool:
		w.results(e)
	default:
		w.asked(e)
	}
}

func (w *writer) add(seq skein.Seq, v any) {
	w.turn.items = append(w.turn.items, outItem{interop.JSON(v), seq})
}

// asked writes what a user, or a program in the user's place, said.
func (w *writer) asked(e *skein.Entry) {
	role := "user"
	if e.Message.Role == skein.RoleSystem {
		role = "system"
	}
	var list []any
	var texts []string
	for i := range e.Message.Parts {
		switch p := &e.Message.Parts[i]; {
		case p.File != nil:
			if f := w.file(e.Seq, p.File); f != nil {
				list = append(list, f)
			}
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
			list = append(list, textOut{"input_text", p.Text})
			texts = append(texts, string(p.Text))
		case p.Result != nil:
			w.result(e, p.Result)
		default:
			w.losses.Add(e.Seq, "parts of other kinds: left out")
		}
	}
	if len(list) == 0 {
		return
	}
	content := any(list)
	if len(list) == 1 && len(texts) == 1 || role == "system" {
		content = skein.Text(strings.Join(texts, "\n\n"))
	}
	w.add(e.End, userOut{"message", role, content})
	if role == "user" && !w.turn.logged {
		w.turn.logged = true
		input := any(skein.Text(strings.Join(texts, "\n\n")))
		if len(list) != len(texts) {
			input = []userOut{{"message", "user", content}}
		}
		w.logged(userLine{"user_message", input, e.Time})
		w.turn.agent = cmp.Or(w.d.Session.Agent, "skein")
		w.step(e, agentStep{"agent_start", w.turn.agent})
	}
}

func (w *writer) step(e *skein.Entry, v any) {
	if w.turn.logged {
		w.logged(stepLine{"step", v, e.Time})
	}
}

// answer writes what the model said and called.
func (w *writer) answer(e *skein.Entry) {
	m := &e.Message
	if m.Model != "" {
		w.turn.model = strings.TrimPrefix(cmp.Or(m.Provider, w.d.Session.Provider)+"/"+m.Model, "/")
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil:
			w.call(e, p.Call)
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary:
			w.add(e.End, answerOut{"message", "assistant", "completed", []textOut{{"output_text", p.Text}}})
			w.turn.final = append(w.turn.final, string(p.Text))
			w.step(e, textStep{"text", p.Text})
		case p.Kind == skein.PartReasoning && w.ours(p.Raw):
			w.turn.items = append(w.turn.items, outItem{lines.RopeOf(p.Raw), e.End})
		case p.Kind == skein.PartReasoning:
			w.losses.Add(e.Seq, "reasoning: left out")
		case p.Result != nil:
			w.result(e, p.Result)
		default:
			w.losses.Add(e.Seq, "parts of other kinds: left out")
		}
	}
}

// ours reports whether a part's bytes are an item that was read from Skillet.
func (w *writer) ours(raw []byte) bool {
	if o := w.d.Session.Origin; o == nil || o.Format != Name || len(raw) == 0 || raw[0] != '{' {
		return false
	}
	it, err := unmarshal[item](raw)
	return err == nil && it.Type == "reasoning"
}

func (w *writer) call(e *skein.Entry, c *skein.Call) {
	input := skein.Text(c.Input)
	if s := loose.Str([]byte(c.Input)); s != "" {
		input = skein.Text(s)
	} else if len(c.Input) == 0 {
		input = "{}"
	}
	w.turn.names[c.ID] = c.Name
	w.add(e.End, callOut{"function_call", c.ID, c.Name, "completed", input})
	w.step(e, toolStart{"agent_tool_start", w.turn.agent, c.Name, input})
}

func (w *writer) results(e *skein.Entry) {
	for i := range e.Message.Parts {
		if r := e.Message.Parts[i].Result; r != nil {
			w.result(e, r)
		}
	}
}

func (w *writer) result(e *skein.Entry, r *skein.Result) {
	if r.Failed {
		w.losses.Add(e.Seq, "tools that failed: their results do not say so")
	}
	name := cmp.Or(r.Name, w.turn.names[r.CallID], "tool")
	output := skein.MustJSON(textOut{"text", r.Text})
	if len(r.Files) > 0 {
		list := []any{textOut{"input_text", r.Text}}
		for i := range r.Files {
			if f := w.file(e.Seq, &r.Files[i]); f != nil {
				list = append(list, f)
			}
		}
		output = skein.MustJSON(list)
	} else if r.Text == "" && len(r.Raw) > 0 {
		output = skein.MustJSON(textOut{"text", skein.Text(r.Raw)})
		w.losses.Add(e.Seq, "results that are not text: as the text of their JSON")
	}
	w.add(e.End, resultOut{"function_call_result", name, r.CallID, "completed", output})
	w.step(e, toolEnd{"agent_tool_end", w.turn.agent, name, r.Text})
}

// file returns an attachment as a piece of content; nil if its bytes are not
// available.
func (w *writer) file(seq skein.Seq, f *skein.File) any {
	url := f.URL
	if f.Blob != "" {
		data, err := w.d.Blob(f.Blob)
		if err != nil {
			w.losses.Add(seq, "files whose bytes are gone: left out")
			return nil
		}
		url = "data:" + cmp.Or(f.Media, "application/octet-stream") + ";base64," + base64.StdEncoding.EncodeToString(data)
	}
	switch {
	case url == "":
		w.losses.Add(seq, "files that are only named: left out")
		return nil
	case strings.HasPrefix(f.Media, "image/") || strings.HasPrefix(url, "data:image/") || f.Media == "" && f.Name == "":
		return imageOut{"input_image", url}
	}
	return fileOut{"input_file", url, f.Name}
}

// endTurn adds the rows of a turn, all with one time, and ends it in the log.
func (w *writer) endTurn() {
	t := &w.turn
	if !t.open {
		return
	}
	if len(t.items) > 0 {
		w.created = max(int64(t.at), w.created+1)
		for _, it := range t.items {
			w.row(w.created, it)
		}
	}
	if t.logged {
		w.logged(stepLine{"step", agentStep{"agent_end", t.agent}, t.at})
		w.logged(finalLine{"final_result", textOnly{skein.Text(strings.Join(t.final, "\n\n"))}, t.at, t.model})
	}
	*t = turnOut{names: t.names}
}
