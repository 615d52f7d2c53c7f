package acp

import (
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/record"
)

// A session is one that both programs talk about.
type session struct {
	outer    skein.SessionID // what the editor calls it, and the store
	inner    string          // what the agent calls it
	rec      *record.Recorder
	live     *live.SessionHub // nil if nobody can attach
	turns    turnQueue        // guarded by the relay's mutex
	toAgent  *sessionQueue
	toEditor *sessionQueue

	opened json.RawMessage // what the agent said when it opened the session, without its ID
	before string          // to be told to the agent with the next prompt
	shown  [][]byte        // lines to be shown before the next turn
	muted  bool            // the agent repeats what is stored
}

// byOuter returns the session that the editor names, nil if it is not open.
func (r *relay) byOuter(id string) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outer[id]
}

// byInner returns the session that the agent names. One that is new begins.
func (r *relay) byInner(id string, o sessionStart) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.inner[id]; s != nil {
		return s
	}
	if o.cwd == "" {
		o = r.newest
	}
	if len(r.expected) > 0 {
		s := r.expected[0]
		s.inner, r.inner[id] = id, s
		s.rec.Named(id)
		return s
	}
	s := r.add(skein.NewSessionID(r.o.Now()), id, false)
	c := r.created(o)
	c.Config = r.config(s)
	s.rec.Begin(skein.NewEvent(skein.KindCreated, skein.At(r.o.Now()), c))
	return s
}

// created returns how a session begins; the caller holds r.mu.
func (r *relay) created(o sessionStart) skein.Created {
	c := skein.Created{
		User: r.o.User, Surface: "acp", Agent: r.agent.name(), Cwd: o.cwd, Project: o.cwd,
		Parent: o.parent, Program: r.o.Program, Version: r.o.Version,
	}
	if r.o.Checkout != nil && o.cwd != "" {
		x, project := r.o.Checkout(o.cwd)
		c.Checkout, c.Project = x.Known(), project
	}
	return c
}

// bind makes s the session that the agent calls inner. As long as it is muted, the
// messages and tool calls that the agent shows are those that are stored.
func (r *relay) bind(s *session, inner string, muted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.inner != inner {
		delete(r.inner, s.inner)
	}
	s.inner, s.muted, r.inner[inner] = inner, muted, s
	if !muted {
		s.rec.Named(inner)
	}
}

// unbind makes s a session that the agent does not have.
func (r *relay) unbind(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.inner, s.inner)
	s.inner, s.muted = "", false
}

// forget makes a session unknown; its recording is the caller's to end.
func (r *relay) forget(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.outer, string(s.outer))
	delete(r.inner, s.inner)
}

// add makes a session known; the caller holds r.mu.
func (r *relay) add(outer skein.SessionID, inner string, takeOver bool) *session {
	s := &session{outer: outer, inner: inner, opened: json.RawMessage("{}"), toAgent: newSessionQueue(r.toAgent), toEditor: newSessionQueue(r.toEditor)}
	w := record.NewWriter(r.o.Store, outer, skein.LeaseRequest{Program: "skein acp", TakeOver: takeOver})
	s.rec = record.NewRecorder(w, r.client.Name, func() skein.Time { return skein.At(r.o.Now()) })
	r.outer[string(outer)] = s
	r.openHub(s)
	if inner != "" {
		r.inner[inner] = s
		s.rec.Named(inner)
	}
	return s
}

// A sessionStart is what is known of a session before it begins.
type sessionStart struct {
	cwd    string
	parent *skein.Parent
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

// A peerInfo is what a program says about itself.
type peerInfo struct {
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version,omitempty"`
}

func (r *relay) binding(s *session) Binding {
	return Binding{Agent: r.agent.peerInfo, Client: r.client, Command: r.o.Command[:1], Session: s.inner, Protocol: r.agent.protocol}
}

func (r *relay) config(s *session) json.RawMessage {
	return skein.MustJSON(map[string]any{"acp": r.binding(s)})
}

// end ends the recording of all sessions; how says how the work ended.
func (r *relay) end(how string) (err error) {
	r.mu.Lock()
	all := r.outer
	r.outer, r.inner = map[string]*session{}, map[string]*session{}
	r.mu.Unlock()
	for _, s := range all {
		if e := r.endOne(s, how); e != nil && err == nil {
			err = fmt.Errorf("session %s: %w", s.outer, e)
		}
	}
	return err
}

func (r *relay) endOne(s *session, how string) error {
	s.rec.End(skein.Program{Program: r.o.Program, Version: r.o.Version, Host: r.o.Host, How: how})
	_ = s.rec.Flush() //nolint:errcheck // Close says it; guests read what is stored next
	s.live.Close()
	return s.rec.Close()
}
