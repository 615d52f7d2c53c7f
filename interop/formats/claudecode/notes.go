package claudecode

import (
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// system makes the event of a system line.
func (r *reader) system(m *making) {
	if m.Subtype == "compact_boundary" {
		r.boundary = m.Compact
	}
	r.note(m)
	r.hide(m)
}

// title makes a titled event, if the title has changed.
func (r *reader) title(m *making, by skein.By, title string) {
	if title == "" || r.main.titles[by] == title {
		return
	}
	r.main.titles[by] = title
	r.add(m, r.main, titled(m, by, title))
}

func titled(m *making, by skein.By, title string) skein.Event {
	return skein.NewEvent(skein.KindTitled, m.time, skein.Titled{Title: title, By: by})
}

// summary gives a title to the session that has the line it names: this one,
// now or when the line comes, or another.
func (r *reader) summary(m *making) {
	if m.Summary == "" {
		r.note(m)
		return
	}
	e := titled(m, skein.BySource, string(m.Summary))
	if n, ok := r.nodes[uuidOf(string(m.Leaf))]; ok {
		r.add(m, n.thread, e)
		return
	}
	if m.Leaf != "" {
		r.leaves[string(m.Leaf)] = interop.Item{Event: e}
		m.out.Apart = append(m.out.Apart, interop.Apart{Of: skein.ClientID("cc:" + m.Leaf), Event: e})
	}
	r.note(m)
}

// remember keeps what later lines refer to from an answer's calls.
func (r *reader) remember(m *making, parts []skein.Part, ordinal int) {
	for _, p := range parts {
		if p.Call == nil {
			continue
		}
		r.calls[p.Call.ID] = call{p.Call.Name, ordinal}
		if p.Call.Name == "Task" || p.Call.Name == "Agent" {
			var in struct {
				Prompt text `json:"prompt"`
			}
			if jsonv2.Unmarshal(jsontext.Value(p.Call.Input), &in, options()) == nil && in.Prompt != "" {
				r.prompts[r.promptHash(string(in.Prompt))] = p.Call.ID
			}
		}
	}
}

// agentRuns adds, once, the event that a call runs a sub-agent.
func (r *reader) agentRuns(m *making) {
	id, agent := string(m.ParentToolUse), string(m.Data.AgentID)
	if id == "" || agent == "" || r.agents[agent] != "" || r.calls[id].ordinal == 0 {
		return
	}
	r.agents[agent] = id
	r.add(m, m.thread, skein.NewEvent(skein.KindTool, m.time, skein.ToolState{
		Call: id, State: skein.Running, Start: m.time, Child: childID(agent),
	}))
}

// childID returns the ID of the session of a sub-agent.
func childID(agent string) skein.SessionID { return skein.SessionID("agent-" + agent) }

// agentEnds adds which sub-agent a call ran, when its result has come.
func (r *reader) agentEnds(m *making, results []skein.Part, f *toolUseResult) {
	for _, p := range results {
		id := p.Result.CallID
		var child skein.SessionID
		if f.AgentID != "" {
			child = childID(string(f.AgentID))
			r.agents[string(f.AgentID)] = id
		}
		if child == "" {
			if child = r.children[id]; child == "" {
				continue
			}
		}
		s := skein.ToolState{Call: id, State: skein.Completed, End: m.time, Child: child}
		if p.Result.Failed {
			s.State = skein.Failed
		}
		r.add(m, m.thread, skein.NewEvent(skein.KindTool, m.time, s))
	}
}
