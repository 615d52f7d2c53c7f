package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/acp/wire"
)

// A session is one that both programs talk about.
type session struct {
	outer    skein.SessionID // what the editor calls it, and the store
	inner    string          // what the agent calls it
	muted    bool            // the agent repeats what is stored
	rec      *record.Recorder
	live     *live.SessionHub // nil if nobody can attach
	turns    turnQueue
	toAgent  *sessionQueue
	toEditor *sessionQueue

	opened json.RawMessage // what the agent said when it opened the session, without its ID

	mu     sync.Mutex
	before string   // to be told to the agent with the next prompt
	shown  [][]byte // lines to be shown before the next turn
}

// notice tells the editor what happened to a session: as a notice, if it shows those,
// else as a message of the agent's that says who it is from.
func (s *session) notice(shows bool, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	n := stored.SessionNotice{Severity: "warning", Title: title, Text: strings.Join(lines, "\n"), Shown: shows}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, stored.Update(s.outer, n.Update()))
}

// beforeTurn shows what is to be shown before a turn, and returns its prompt with the
// context that the agent does not have.
func (s *session) beforeTurn(line []byte, all []wire.Message) ([]byte, []wire.Message) {
	s.mu.Lock()
	before, lines := s.before, s.shown
	s.before, s.shown = "", nil
	s.mu.Unlock()
	for _, l := range lines {
		s.toEditor.pass(l, nil)
	}
	if before == "" {
		return line, all
	}
	line = withContext(line, &all[0], before)
	all, _ = wire.Scan(line)
	return line, all
}

// tooLong records that a message is too long to be recorded.
func (s *session) tooLong(m *wire.Message) {
	s.rec.Note("not_recorded", skein.MustJSON(map[string]any{"method": m.Method, "update": m.Update, "reason": fmt.Sprintf("the line has more than %d bytes", mostRecorded)}))
	if m.Method == "session/prompt" {
		text := fmt.Sprintf("[a prompt of more than %d bytes, which was not recorded]", mostRecorded)
		s.rec.Prompt(skein.MustJSON(map[string]any{"prompt": []any{map[string]any{"type": "text", "text": text}}}))
	}
}

// A sessionTable has the sessions that are open.
type sessionTable struct {
	*programs
	open func(*session) // lets others attach to one that is added

	mu       sync.Mutex
	outer    map[string]*session
	inner    map[string]*session
	newest   sessionStart // of the newest session/new
	expected []*session   // whose names in the agent are not known yet
}

// A sessionStart is what is known of a session before it begins.
type sessionStart struct {
	cwd    string
	parent *skein.Parent
}

// byOuter returns the session that the editor names, nil if it is not open.
func (t *sessionTable) byOuter(id string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.outer[id]
}

// byInner returns the session that the agent names. One that is new begins.
func (t *sessionTable) byInner(id string, o sessionStart) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.inner[id]; s != nil {
		return s
	}
	if o.cwd == "" {
		o.cwd = t.newest.cwd
	}
	if len(t.expected) > 0 {
		s := t.expected[0]
		s.inner, t.inner[id] = id, s
		s.rec.Named(id)
		return s
	}
	s := t.put(skein.NewSessionID(t.o.Now()), id, false)
	c := t.created(o)
	c.Config = skein.MustJSON(map[string]any{"acp": t.binding(id)})
	s.rec.Begin(skein.NewEvent(skein.KindCreated, t.now(), c))
	return s
}

// outerOf returns what the editor calls a session of the agent's; one that only a list
// names keeps its name.
func (t *sessionTable) outerOf(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.inner[id]; s != nil {
		return string(s.outer)
	}
	return id
}

// innerOf returns what the agent calls a session of the editor's; one that is not open
// keeps its name.
func (t *sessionTable) innerOf(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.outer[id]; s != nil {
		return s.inner
	}
	return id
}

// add makes a session known that the agent does not know, and returns it; the one that
// is known already, and false, if there is one.
func (t *sessionTable) add(outer skein.SessionID, takeOver bool) (_ *session, added bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.outer[string(outer)]; s != nil {
		return s, false
	}
	return t.put(outer, "", takeOver), true
}

// put makes a session known; the caller holds t.mu.
func (t *sessionTable) put(outer skein.SessionID, inner string, takeOver bool) *session {
	s := &session{outer: outer, inner: inner, opened: json.RawMessage("{}"), toAgent: newSessionQueue(t.toAgent), toEditor: newSessionQueue(t.toEditor)}
	w := record.NewWriter(t.o.Store, outer, skein.LeaseRequest{Program: "skein acp", TakeOver: takeOver})
	s.rec = record.NewRecorder(w, t.now)
	t.outer[string(outer)] = s
	t.open(s)
	if inner != "" {
		t.inner[inner] = s
		s.rec.Named(inner)
	}
	return s
}

// expect makes s the session that the agent names next: it may speak in it before it
// answers. Some show it from its beginning (opencode 1.18.33, a fork).
func (t *sessionTable) expect(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expected, s.muted = append(t.expected, s), true
}

// named says that the name of s is known, or will never be.
func (t *sessionTable) named(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expected = slices.DeleteFunc(t.expected, func(e *session) bool { return e == s })
}

// bind makes s the session that the agent calls inner. As long as it is muted, the
// messages and tool calls that the agent shows are those that are stored.
func (t *sessionTable) bind(s *session, inner string, muted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.inner != inner {
		delete(t.inner, s.inner)
	}
	s.inner, s.muted, t.inner[inner] = inner, muted, s
	if !muted {
		s.rec.Named(inner)
	}
}

// unbind makes s a session that the agent does not have.
func (t *sessionTable) unbind(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.inner, s.inner)
	s.inner, s.muted = "", false
}

// repeats reports whether a message shows again what is stored.
func (t *sessionTable) repeats(s *session, m *wire.Message) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.muted && slices.Contains([]string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}, m.Update)
}

// begins says where the sessions begin that the agent names next.
func (t *sessionTable) begins(o sessionStart) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.newest = o
}

// forget makes a session unknown; its recording is the caller's to end.
func (t *sessionTable) forget(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.outer, string(s.outer))
	delete(t.inner, s.inner)
}

// created returns how a session begins.
func (t *sessionTable) created(o sessionStart) skein.Created {
	agent := t.known().agent
	c := skein.Created{
		User: t.o.User, Surface: "acp", Agent: agent.name(), Cwd: o.cwd, Project: o.cwd,
		Parent: o.parent, Program: t.o.Program, Version: t.o.Version,
	}
	if t.o.Checkout != nil && o.cwd != "" {
		x, project := t.o.Checkout(o.cwd)
		c.Checkout, c.Project = x.Known(), project
	}
	return c
}

// A Binding says which session of an agent a session of the store is. It is the member
// acp of the created event's config, and the data of notes named acp:session.
type Binding struct {
	Agent    peerInfo `json:"agent"`
	Client   peerInfo `json:"client,omitzero"`
	Command  []string `json:"command,omitempty"`
	Session  string   `json:"session"` // as the agent names it
	Protocol int      `json:"protocol,omitempty"`
}

// binding returns that of the session which the agent calls inner.
func (t *sessionTable) binding(inner string) Binding {
	p := t.known()
	return Binding{Agent: p.agent.peerInfo, Client: p.client, Command: t.o.Command[:1], Session: inner, Protocol: p.agent.protocol}
}

// endAll ends the recording of all sessions; how says how the work ended.
func (t *sessionTable) endAll(how string) (err error) {
	t.mu.Lock()
	all := t.outer
	t.outer, t.inner = map[string]*session{}, map[string]*session{}
	t.mu.Unlock()
	for _, s := range all {
		if e := t.end(s, how); e != nil && err == nil {
			err = fmt.Errorf("session %s: %w", s.outer, e)
		}
	}
	return err
}

// end ends the recording of one.
func (t *sessionTable) end(s *session, how string) error {
	s.rec.End(skein.Program{Program: t.o.Program, Version: t.o.Version, Host: t.o.Host, How: how})
	_ = s.rec.Flush() //nolint:errcheck // Close says it; guests read what is stored next
	s.live.Close()
	return s.rec.Close()
}
