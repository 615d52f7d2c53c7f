package copilot

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// agents are the sub-agents of a session. Their events are among those of the
// session, with their ID or, in early versions, that of the call that started them.
type agents struct {
	byName map[string]*subagent // as interop.Begin.Name
	byCall map[string]*subagent
}

type subagent struct {
	name  string // in this file
	of    string // name of the session that started it
	call  string
	kind  string // what it was started as
	title string
	model string
	at    int // ordinal at which it began in that session
}

func newAgents() agents { return agents{map[string]*subagent{}, map[string]*subagent{}} }

// maxAgents is how many sub-agents a file can have; the events of more are the
// session's own.
const maxAgents = 10000

// sessionOf returns the name of the session that an event belongs to.
func (ts *threads) sessionOf(l line) string {
	if strings.HasPrefix(l.kind, "subagent.") { // it belongs to the session that started the agent
		return ts.calls[l.data.Str("toolCallId")]
	}
	call := l.data.Str("parentToolCallId")
	a := ts.agents
	s := a.byName[l.agent]
	if s == nil && call != "" {
		s = a.byCall[call]
	}
	if s == nil && l.agent != "" {
		s = ts.waiting()
	}
	switch name := l.agent; {
	case s != nil && l.agent != "":
		a.byName[l.agent] = s
		return s.name
	case s != nil:
		return s.name
	case name == "" && call == "" || len(a.byName) >= maxAgents:
		return ""
	case name == "":
		name = "call " + call
		fallthrough
	default:
		return a.add(&subagent{name: name, call: call, of: ts.calls[call], at: ts.items[ts.calls[call]]})
	}
}

// waiting returns the sub-agent that was started and has said nothing yet, if there
// is exactly one.
func (ts *threads) waiting() (one *subagent) {
	for name, s := range ts.agents.byName {
		if name == s.name && strings.HasPrefix(name, "call ") && !ts.begun[name] {
			if one != nil {
				return nil
			}
			one = s
		}
	}
	return one
}

// add adds a sub-agent. None is its own parent, whatever the file says.
func (a agents) add(s *subagent) string {
	for up := s.of; up != "" && a.byName[up] != nil; up = a.byName[up].of {
		if up == s.name {
			s.of = ""
		}
	}
	if a.byName[s.of] == nil {
		s.of = ""
	}
	a.byName[s.name] = s
	if s.call != "" {
		a.byCall[s.call] = s
	}
	return s.name
}

// subagent reads the session's events about a sub-agent: that it was started for a
// call, and how it ended.
func (ts *threads) subagent(l line) []piece {
	d := l.data
	call := d.Str("toolCallId")
	switch l.kind {
	case "subagent.selected":
		name := d.Str("agentName")
		return []piece{{event: skein.NewEvent(skein.KindChanged, l.at, skein.Changed{Profile: &name})}, note(l, "", nil)}
	case "subagent.deselected":
		name := ""
		return []piece{{event: skein.NewEvent(skein.KindChanged, l.at, skein.Changed{Profile: &name})}, note(l, "", nil)}
	}
	if call == "" {
		return []piece{note(l, "", nil)}
	}
	s := ts.agents.byCall[call]
	if s == nil && len(ts.agents.byName) >= maxAgents {
		return []piece{note(l, "", nil)}
	}
	if s == nil {
		s = &subagent{name: "call " + call, call: call, of: l.session}
		if l.agent != "" && ts.agents.byName[l.agent] == nil {
			s.name = l.agent
		}
		ts.agents.add(s)
	}
	if s.kind == "" {
		s.kind, s.title, s.model = d.Str("agentName"), d.Str("agentDisplayName"), d.Str("model")
	}
	if !ts.begun[s.name] {
		s.at = ts.items[s.of]
	}
	t := skein.ToolState{Call: call, State: skein.Running, Title: d.Str("agentDisplayName"), Child: s.id(ts.id), Meta: note(l, "", nil).data()}
	switch l.kind {
	case "subagent.completed":
		t.State = skein.Completed
	case "subagent.failed":
		t.State = skein.Failed
	}
	return []piece{{event: skein.NewEvent(skein.KindTool, l.at, t)}}
}

// data returns the data of a noted event.
func (p piece) data() []byte {
	n, err := skein.Decode[skein.Noted](p.event)
	if err != nil {
		return nil
	}
	return n.Data
}

// id returns the ID of a sub-agent's session.
func (s *subagent) id(of string) skein.SessionID {
	name := strings.TrimPrefix(s.name, "call ")
	if len(name) == 36 && strings.Count(name, "-") == 4 {
		return skein.SessionID(name)
	}
	id := skein.SessionID(of + "." + name)
	if id.Check() != nil {
		id = skein.SessionID(short(of) + "." + short(name))
	}
	return id
}

// begin returns the beginning of a sub-agent's session.
func (s *subagent) begin(ts *threads, at skein.Time) interop.Begin {
	c := ts.created
	c.Surface, c.Title, c.Model = "subagent", s.title, s.model
	if s.kind != "" {
		c.Profile = s.kind
	}
	id := s.id(ts.id)
	c.Origin = &skein.Origin{ID: string(id), Version: c.Version}
	c.Parent = &skein.Parent{Why: skein.Child, Call: s.call}
	return interop.Begin{Name: s.name, ID: id, Time: at, Created: c, Of: s.of, At: s.at}
}
