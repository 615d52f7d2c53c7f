package claudecode

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// thread is a session of the file: the file's own, or an inline sub-agent's.
type thread struct {
	name     string // interop's; "" for the file's own
	id       skein.SessionID
	begun    bool
	cwd      string
	branch   string
	titles   map[skein.By]string
	count    int // items so far
	segments []segment
	current  int
}

// A segment is a run of lines that begins with a user's input. Lines of one segment
// may have several children, of parallel calls and of progress; continuing from a
// segment other than the newest is a rewind.
type segment struct {
	last  int   // ordinal of its last item while it was the newest
	later int32 // the segment that it continues, if that came after it; else 0 or its own
}

// latest returns the segment that came last of those that one is in.
func (t *thread) latest(segment int32) int32 {
	for t.segments[segment].later > segment {
		segment = t.segments[segment].later
	}
	return segment
}

func newThread(name string, id skein.SessionID) *thread {
	return &thread{name: name, id: id, titles: map[skein.By]string{}, segments: []segment{{}}}
}

// threads are the sessions of a file.
type threads struct {
	stem   string // file name without .jsonl: the session's ID
	agent  bool   // the file is a sub-agent's
	folder string // ID of the session whose folder it is in; "" for none
	meta   agentMeta
	main   *thread
	sides  map[string]*thread // inline sub-agents, by agent ID or by the UUID of their first line
	calls  *callIndex
}

// begin makes sure that t has begun, and knows m's folder and branch. As long as there
// are only lines about the file, the session waits for one that has the folder.
func (ts *threads) begin(m *making, t *thread) {
	cwd := string(m.Cwd)
	if t.begun {
		if t == m.thread {
			ts.moved(m, t, cwd)
		}
		return
	}
	if t != ts.main {
		ts.begin(m, ts.main)
		ts.main.begun = true
	}
	t.begun, t.cwd, t.branch = t != ts.main || m.steps(), cwd, m.branch()
	b := interop.Begin{Name: t.name, ID: t.id, Time: m.time, Created: skein.Created{
		Surface: "cli", Project: cwd, Cwd: cwd, Agent: Name, Provider: "anthropic", Program: Name, Version: clip(string(m.Version)),
		Checkout: skein.Checkout{Branch: t.branch}.Known(), Origin: &skein.Origin{ID: string(t.id), Version: clip(string(m.Version))},
	}}
	if m.Entrypoint != "" {
		b.Created.Surface = clip(string(m.Entrypoint))
	}
	switch {
	case ts.agent && t == ts.main:
		ts.child(m, &b)
	case t != ts.main:
		ts.side(m, t, &b)
	}
	m.out.Begin = append(m.out.Begin, b)
}

// branch returns the branch that a line names; "" for none.
func (m *making) branch() string { return interop.Recorded("", string(m.Branch), "").Branch }

// moved adds an event if the folder or the branch is another one. A line of the same
// folder that names no branch says nothing about it: others in the file do.
func (ts *threads) moved(m *making, t *thread, cwd string) {
	var c skein.Changed
	if cwd != "" && cwd != t.cwd {
		if c.Cwd = &cwd; t.cwd == "" {
			c.Project = &cwd
		}
		t.cwd = cwd
	}
	if b := m.branch(); b != t.branch && (m.Branch != "" || c.Cwd != nil) {
		t.branch, c.Checkout = b, &skein.Checkout{Branch: b}
	}
	if c.Cwd == nil && c.Checkout == nil {
		return
	}
	t.count++
	m.out.Items = append(m.out.Items, interop.Item{Session: t.name, Event: skein.NewEvent(skein.KindChanged, m.time, c)})
}

// child sets the parent of the session of a sub-agent's file.
func (ts *threads) child(m *making, b *interop.Begin) {
	b.ParentID = ts.folder
	if id := string(m.Session); b.ParentID == "" && id != "" && id != ts.stem {
		b.ParentID = id
	}
	if ts.meta.Parent != "" {
		b.ParentID = "agent-" + string(ts.meta.Parent)
	}
	if b.ParentID != "" {
		b.Created.Parent = &skein.Parent{Why: skein.Child, Call: string(ts.meta.ToolUse)}
	}
	if ts.meta.Type != "" {
		b.Created.Agent = clip(string(ts.meta.Type))
	}
	b.Created.Title = string(ts.meta.Description)
}

// side sets the call of the main session that started an inline sub-agent.
func (ts *threads) side(m *making, t *thread, b *interop.Begin) {
	id := first(ts.calls.agents[t.name], string(m.SourceToolUse), string(m.ParentToolUse))
	if id == "" && m.Type == "user" {
		id = ts.calls.prompts[ts.calls.promptHash(promptText(m.Message.Content))]
	}
	b.Created.Parent = &skein.Parent{Why: skein.Child, Call: id}
	b.Of, b.At = "", ts.calls.met[id].ordinal
	if b.At == 0 {
		b.At = ts.main.count
	}
	if id != "" {
		ts.calls.agents[t.name], ts.calls.children[id] = id, t.id
	}
}

// note keeps the whole line as a noted event.
func (ts *threads) note(m *making) {
	name, level := string(m.Type), ""
	if m.Type == "system" {
		level = string(m.Level)
	}
	if m.Type == "system" && m.Subtype == "api_error" {
		level = "error"
	}
	// By hand, so that the bytes do not change. The session is left out: a copy names
	// another one.
	b := append([]byte(`{"name":`), skein.MustJSON(Name+":"+clip(name))...)
	if level != "" {
		b = append(append(b, `,"level":`...), skein.MustJSON(clip(level))...)
	}
	b = append(append(append(b, `,"data":`...), without(m.body, "sessionId", "sessionKind")...), '}')
	ts.add(m, m.thread, skein.Event{Kind: skein.KindNoted, Time: m.time, Payload: b})
}

// add adds an event to t and returns its ordinal.
func (ts *threads) add(m *making, t *thread, e skein.Event) int {
	ts.begin(m, t)
	t.count++
	m.out.Items = append(m.out.Items, interop.Item{Session: t.name, Event: e, Blobs: m.blobs})
	m.blobs = nil
	return t.count
}
