package sessionlog

import (
	"encoding/json"

	"github.com/skein-dev/skein"
)

// A toolData is the data of a line about a tool call.
type toolData struct {
	Call   string          `json:"tool_call_id,omitempty"`
	Title  string          `json:"title,omitempty"`
	Child  skein.SessionID `json:"child_session,omitempty"`
	Millis int64           `json:"duration_ms,omitempty"`
	Files  []string        `json:"files,omitempty"`
	Status string          `json:"status,omitempty"`
}

// tool appends the lines of a tool event. The tool's output comes in a message.
func (l *Encoder) tool(b []byte, t *skein.ToolState) []byte {
	c := l.calls[t.Call]
	agent, name := pair{"agentName", l.name("")}, pair{"toolName", c.name}
	switch t.State {
	case skein.Running:
		if t.Child == "" {
			b = l.step(b, info, "tool:pre", "agent_tool_start", object(toolData{Call: t.Call, Title: t.Title}),
				agent, name, pair{"toolArgumentsStr", c.input})
		}
	case skein.Uncertain:
		b = l.step(b, failure, "tool:error", "agent_tool_end", object(toolData{Call: t.Call, Status: "uncertain"}),
			agent, name, pair{"result", ""})
	case skein.Completed, skein.Failed:
		if t.Start > 0 && t.End >= t.Start {
			c.took = t.End - t.Start
		}
	}
	if t.Child != "" && !c.handed {
		c.handed = true
		b = l.step(b, info, "task:agent_spawned", "handoff", object(toolData{Call: t.Call, Child: t.Child}),
			agent, pair{"toAgentName", delegate(c)})
	}
	if l.calls != nil {
		l.calls[t.Call] = c
	}
	return b
}

// delegate returns the name of the agent that a call delegates to.
func delegate(c call) string {
	var input struct{ Agent, Subagent, Name string }
	if json.Unmarshal([]byte(c.input), &input) == nil {
		for _, name := range []string{input.Agent, input.Subagent, input.Name} {
			if name != "" {
				return name
			}
		}
	}
	return c.name
}

// results appends what tools answered.
func (l *Encoder) results(b []byte, m *skein.Message) []byte {
	for i := range m.Parts {
		r := m.Parts[i].Result
		if r == nil {
			continue
		}
		c := l.calls[r.CallID]
		name, level, tool := "tool:post", info, r.Name
		if r.Failed {
			name, level = "tool:error", failure
		}
		if tool == "" {
			tool = c.name
		}
		text := string(r.Text)
		if text == "" {
			text = string(r.Raw)
		}
		d := toolData{Call: r.CallID, Millis: int64(c.took)}
		for _, f := range r.Files {
			d.Files = append(d.Files, f.Name)
		}
		b = l.step(b, level, name, "agent_tool_end", object(d),
			pair{"agentName", l.name("")}, pair{"toolName", tool}, pair{"result", text})
	}
	return b
}
