package claudecode

import (
	"hash/maphash"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// call is a tool call that a reader has met.
type call struct {
	name    string
	ordinal int
}

// A callIndex has the tool calls that a reader has met.
type callIndex struct {
	met      map[string]call
	prompts  map[uint64]string          // prompts of calls that start sub-agents, to the call's ID
	agents   map[string]string          // sub-agents to the call that started them
	children map[string]skein.SessionID // and calls to the inline ones that they started
	seed     maphash.Seed
}

func newCallIndex() *callIndex {
	return &callIndex{met: map[string]call{}, prompts: map[uint64]string{}, agents: map[string]string{}, children: map[string]skein.SessionID{}, seed: maphash.MakeSeed()}
}

// remember keeps what later lines refer to from an answer's calls.
func (ci *callIndex) remember(parts []skein.Part, ordinal int) {
	for _, p := range parts {
		if p.Call == nil {
			continue
		}
		ci.met[p.Call.ID] = call{p.Call.Name, ordinal}
		if p.Call.Name == "Task" || p.Call.Name == "Agent" {
			var in struct {
				Prompt text `json:"prompt"`
			}
			if jsonv2.Unmarshal(jsontext.Value(p.Call.Input), &in, options()) == nil && in.Prompt != "" {
				ci.prompts[ci.promptHash(string(in.Prompt))] = p.Call.ID
			}
		}
	}
}

// agentRuns returns, once, the event that a call runs a sub-agent.
func (ci *callIndex) agentRuns(m *making) (skein.Event, bool) {
	id, agent := string(m.ParentToolUse), string(m.Data.AgentID)
	if id == "" || agent == "" || ci.agents[agent] != "" || ci.met[id].ordinal == 0 {
		return skein.Event{}, false
	}
	ci.agents[agent] = id
	return skein.NewEvent(skein.KindTool, m.time, skein.ToolState{
		Call: id, State: skein.Running, Start: m.time, Child: childID(agent),
	}), true
}

// childID returns the ID of the session of a sub-agent.
func childID(agent string) skein.SessionID { return skein.SessionID("agent-" + agent) }

// agentEnds returns the events that say which sub-agents calls ran whose results have
// come.
func (ci *callIndex) agentEnds(m *making, results []skein.Part, f *toolUseResult) (all []skein.Event) {
	for _, p := range results {
		id := p.Result.CallID
		var child skein.SessionID
		if f.AgentID != "" {
			child = childID(string(f.AgentID))
			ci.agents[string(f.AgentID)] = id
		}
		if child == "" {
			if child = ci.children[id]; child == "" {
				continue
			}
		}
		s := skein.ToolState{Call: id, State: skein.Completed, End: m.time, Child: child}
		if p.Result.Failed {
			s.State = skein.Failed
		}
		all = append(all, skein.NewEvent(skein.KindTool, m.time, s))
	}
	return all
}

func (ci *callIndex) promptHash(s string) uint64 { return maphash.String(ci.seed, s) }
