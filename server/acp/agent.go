package acp

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

// An agentPeer is what the agent says about itself.
type agentPeer struct {
	peerInfo
	protocol int
	command  string // base name of its program
	caps     []byte // what it can do
}

// name returns the agent's name as the store has it: that of the format of its sessions,
// if there is one.
func (a *agentPeer) name() string {
	said := strings.ToLower(cmp.Or(a.Name, a.command))
	for _, known := range []struct{ part, name string }{
		{"claude", "claude-code"},
		{"codex", "codex"},
		{"opencode", "opencode"},
		{"gemini", "gemini"},
		{"qwen", "qwen"},
		{"goose", "goose"},
		{"copilot", "copilot"},
		{"cursor", "cursor"},
	} {
		if strings.Contains(said, known.part) {
			return known.name
		}
	}
	return said
}

// fromAgent takes a line of the agent's.
func (r *relay) fromAgent(line []byte) {
	all, whole := wire.Scan(line)
	if !whole {
		r.toEditor.put(line)
		return
	}
	if r.ownAnswer(all, line) {
		return
	}
	var lead *session
	var first []func() error
	var edits []wire.LineEdit
	for i := range all {
		m := &all[i]
		var s *session
		if m.IsAnswer() {
			var wait func() error
			if q := r.offered(m, line); q != nil {
				edits = append(edits, *q)
			}
			if s, wait = r.answer(m, line); wait != nil {
				first = append(first, wait)
			}
		} else if id := m.Session(line); id != "" {
			if s = r.byInner(id, sessionStart{}); len(all) == 1 && r.repeats(s, m) {
				return
			}
			r.heard(m, s, line)
		}
		if lead == nil {
			lead = s
		}
	}
	out := wire.Apply(line, append(edits, wire.Rename(line, all, r.outerOf)...))
	switch {
	case lead == nil:
		r.toEditor.put(out)
	case len(first) == 0:
		lead.toEditor.pass(out, nil)
	default:
		lead.toEditor.pass(out, func() []byte {
			for _, wait := range first {
				if err := wait(); err != nil {
					return failure(all[0].ID, notStored(err))
				}
			}
			return out
		})
	}
}

// repeats reports whether a message shows again what is stored.
func (r *relay) repeats(s *session, m *wire.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return s.muted && slices.Contains([]string{"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"}, m.Update)
}

// offered returns the change to an answer to initialize, nil for other answers.
func (r *relay) offered(m *wire.Message, line []byte) *wire.LineEdit {
	r.mu.Lock()
	q := r.asked[m.ID]
	r.mu.Unlock()
	result := m.Result.Of(line)
	if q.method != "initialize" || string(wire.Member(result, "protocolVersion")) != "1" {
		return nil
	}
	return &wire.LineEdit{LineRange: m.Result, Text: r.offer(result)}
}

// outerOf returns what the editor calls a session of the agent's; one that only a list
// names keeps its name.
func (r *relay) outerOf(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.inner[id]; s != nil {
		return string(s.outer)
	}
	return id
}

// heard records a request or notification of the agent's.
func (r *relay) heard(m *wire.Message, s *session, line []byte) {
	params := m.Params.Of(line)
	switch {
	case len(line) > mostRecorded:
		r.tooLong(s, m)
		if m.IsRequest() {
			r.ask(r.toEditor, m, request{method: m.Method, s: s, at: r.now()})
		}
	case m.Method == "session/update":
		if m.Update == "subagent_update" {
			r.child(s, m, line)
		}
		s.live.Update(params, func() { s.rec.Update(params) })
	case m.IsRequest():
		r.ask(r.toEditor, m, request{method: m.Method, s: s, params: params, at: r.now()})
		if m.Method == "session/request_permission" {
			s.rec.Ask(params)
			s.live.Ask(m.ID, params)
		}
	default:
		s.rec.Note(m.Method, params)
	}
}

// child begins the session of a subagent, which an update of its parent's names.
func (r *relay) child(s *session, m *wire.Message, line []byte) {
	for _, span := range m.Sessions[1:] {
		r.mu.Lock()
		cwd := r.newest.cwd
		r.mu.Unlock()
		r.byInner(wire.Unquote(span.Of(line)), sessionStart{cwd: cwd, parent: &skein.Parent{Session: s.outer, Why: skein.Child}})
	}
}

// answer records the agent's answer to a request of the editor's. What it returns must
// be waited for before the editor sees the answer.
func (r *relay) answer(m *wire.Message, line []byte) (s *session, wait func() error) {
	q, ok := r.answered(r.asked, m.ID)
	if !ok {
		return nil, nil
	}
	result, failed := m.Result.Of(line), m.Error.Of(line)
	switch q.method {
	case "initialize":
		r.initialized(result)
		return nil, nil
	case "session/new":
		if id := m.Session(line); id != "" {
			s = r.byInner(id, sessionStart{})
			s.rec.Options(result)
			s.opened = without(result)
			return s, s.rec.Flush
		}
		return nil, nil
	}
	switch {
	case q.s == nil:
		return nil, nil
	case q.method == "session/prompt":
		q.s.rec.Answered(result, failed)
		q.s.live.End(result, refusal(failed))
		r.turnEnded(q.s)
		return q.s, q.s.rec.Flush
	}
	if len(line) > mostRecorded {
		r.tooLong(q.s, m)
		return q.s, nil
	}
	q.s.rec.Did(q.method, q.params, q.at, result, failed)
	q.s.rec.Options(result)
	return q.s, nil
}

// initialized takes what the agent says about itself.
func (r *relay) initialized(result []byte) {
	var p struct {
		ProtocolVersion int
		AgentInfo       peerInfo
	}
	if json.Unmarshal(result, &p) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agent = agentPeer{p.AgentInfo, p.ProtocolVersion, filepath.Base(r.o.Command[0]), wire.Member(result, "agentCapabilities")}
}
