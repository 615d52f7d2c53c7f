package sessionlog

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// object returns v as the data of a line.
func object(v any) []byte { return skein.MustJSON(v) }

func (l *Encoder) message(b []byte, m *skein.Message) []byte {
	switch {
	case m.Typed():
		return l.prompt(b, m)
	case m.Role == skein.RoleAssistant:
		return l.answer(b, m)
	case m.Role == skein.RoleTool:
		return l.results(b, m)
	case m.Role == skein.RoleSteer:
		return l.plain(b, info, "prompt:steer", object(saidData{Text: skein.Text(m.Words())}))
	}
	b = l.results(b, m)
	if text := words(m); text != "" {
		b = l.plain(b, info, "context:include", object(saidData{Role: m.Role, Text: skein.Text(text)}))
	}
	return b
}

// saidData are the data of a line about a message that has no kind.
type saidData struct {
	Role skein.Role `json:"role,omitempty"`
	Text skein.Text `json:"text"`
}

// words returns all text of m, including text added by a program.
func words(m *skein.Message) (text string) {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == skein.PartText || p.Kind == skein.PartSummary {
			if text != "" && p.Text != "" {
				text += "\n\n"
			}
			text += string(p.Text)
		}
	}
	return text
}

// prompt begins a turn. Later lines depend on nothing from before it except the
// agent, which its line names, so a log can be continued from here.
func (l *Encoder) prompt(b []byte, m *skein.Message) []byte {
	l.busy, l.text, l.model, l.calls = false, "", "", nil
	data := object(struct {
		Agent string   `json:"agent,omitempty"`
		Files []string `json:"files,omitempty"`
	}{l.agent, files(m.Parts)})
	return l.user(b, "prompt:submit", m.Words(), data)
}

func files(parts []skein.Part) (names []string) {
	for _, p := range parts {
		if p.File != nil {
			names = append(names, p.File.Name)
		}
	}
	return names
}

// answer appends what a model said: its reasoning and text, and the end of the
// turn if it calls no tools.
func (l *Encoder) answer(b []byte, m *skein.Message) []byte {
	b = l.begin(b, m.Agent)
	l.text, l.model = m.Words(), modelName(m.Provider, m.Model)
	called := false
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Call != nil:
			called = true
			l.know(p.Call)
		case p.Kind == skein.PartReasoning && p.Text != "":
			b = l.plain(b, debug, "thinking:final", object(saidData{Text: p.Text}))
		case (p.Kind == skein.PartText || p.Kind == skein.PartSummary) && p.Text != "":
			b = l.step(b, info, "content_block:end", "text", nil, pair{"text", string(p.Text)})
		}
	}
	switch {
	case m.Error != nil: // it may be retried
	case m.Interrupted:
		return l.complete(b, "interrupted")
	case !called:
		return l.complete(b, "")
	}
	return b
}

func modelName(provider, model string) string {
	if provider == "" || model == "" {
		return provider + model
	}
	return provider + "/" + model
}

// begin appends that the agent begins to answer, once per turn.
func (l *Encoder) begin(b []byte, agent string) []byte {
	if l.busy {
		return b
	}
	l.busy = true
	return l.step(b, info, "execution:start", "agent_start", nil, pair{"agentName", l.name(agent)})
}

// complete appends the end of a turn. status is "" if all went well.
func (l *Encoder) complete(b []byte, status string) []byte {
	l.busy = false
	level := info
	switch status {
	case "done":
		status = ""
	case "error":
		level = failure
	case "interrupted":
		level = warning
	}
	b = l.step(b, info, "execution:end", "agent_end", nil, pair{"agentName", l.name("")})
	data := object(struct {
		Status string `json:"status,omitempty"`
	}{status})
	return l.final(b, level, l.text, l.model, data)
}

// requestData are the data of a line about a model request.
type requestData struct {
	Provider string           `json:"provider,omitempty"`
	Model    string           `json:"model,omitempty"`
	Mode     string           `json:"mode,omitempty"`
	Usage    *skein.Usage     `json:"usage,omitempty"`
	Stop     string           `json:"stop,omitempty"`
	Request  string           `json:"request_id,omitempty"`
	Attempt  int              `json:"attempt,omitempty"`
	Error    *skein.ErrorInfo `json:"error,omitempty"`
}

func (l *Encoder) request(b []byte, s *skein.Step) []byte {
	data := object(requestData{s.Provider, s.Model, s.Mode, s.Usage, s.Stop, s.Request, s.Attempt, s.Error})
	switch {
	case s.Phase == "start" && s.Mode != "" && s.Mode != "turn": // a summary or title is not part of an answer
		return l.plain(b, info, "llm:request", data)
	case s.Phase == "start":
		return l.plain(l.begin(b, ""), info, "llm:request", data)
	case s.Error != nil:
		return l.plain(b, failure, "provider:error", data)
	}
	return l.plain(b, info, "llm:response", data)
}

// know stores what the lines of a tool call need.
func (l *Encoder) know(c *skein.Call) {
	if l.calls == nil {
		l.calls = map[string]call{}
	}
	l.calls[c.ID] = call{name: c.Name, input: inputText(c.Input)}
}

// inputText returns a call's input as a string, whether or not it is valid
// JSON.
func inputText(input json.RawMessage) string {
	if s, ok := skein.Unquote(input); ok {
		return s
	}
	return string(input)
}
