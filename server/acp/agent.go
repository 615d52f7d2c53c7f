package acp

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

// fromAgent takes a line of the agent's.
func (r *relay) fromAgent(line []byte) {
	all, whole := wire.Scan(line)
	if !whole {
		r.toEditor.put(line)
		return
	}
	if r.answers(all, line) {
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
			if s = r.sessions.byInner(id, sessionStart{}); len(all) == 1 && r.sessions.repeats(s, m) {
				return
			}
			r.heard(m, s, line)
		}
		if lead == nil {
			lead = s
		}
	}
	out := wire.Apply(line, append(edits, wire.Rename(line, all, r.sessions.outerOf)...))
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

// offered returns the change to an answer to initialize, nil for other answers.
func (r *relay) offered(m *wire.Message, line []byte) *wire.LineEdit {
	result := m.Result.Of(line)
	if r.asked.method(m.ID) != "initialize" || string(wire.Member(result, "protocolVersion")) != "1" {
		return nil
	}
	return &wire.LineEdit{LineRange: m.Result, Text: offer(result)}
}

// heard records a request or notification of the agent's.
func (r *relay) heard(m *wire.Message, s *session, line []byte) {
	params := m.Params.Of(line)
	switch {
	case len(line) > mostRecorded:
		s.tooLong(m)
		if m.IsRequest() {
			r.asking.add(m.ID, request{method: m.Method, s: s, at: r.now()})
		}
	case m.Method == "session/update":
		if m.Update == "subagent_update" {
			r.child(s, m, line)
		}
		s.live.Update(params, func() { s.rec.Update(params) })
	case m.IsRequest():
		r.asking.add(m.ID, request{method: m.Method, s: s, params: params, at: r.now()})
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
		r.sessions.byInner(wire.Unquote(span.Of(line)), sessionStart{parent: &skein.Parent{Session: s.outer, Why: skein.Child}})
	}
}

// answer records the agent's answer to a request of the editor's. What it returns must
// be waited for before the editor sees the answer.
func (r *relay) answer(m *wire.Message, line []byte) (s *session, wait func() error) {
	q, ok := r.asked.answered(m.ID)
	if !ok {
		return nil, nil
	}
	result, failed := m.Result.Of(line), m.Error.Of(line)
	switch q.method {
	case "initialize":
		r.agentSays(result)
		return nil, nil
	case "session/new":
		if id := m.Session(line); id != "" {
			s = r.sessions.byInner(id, sessionStart{})
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
		q.s.turns.ended()
		return q.s, q.s.rec.Flush
	}
	if len(line) > mostRecorded {
		q.s.tooLong(m)
		return q.s, nil
	}
	q.s.rec.Did(q.method, q.params, q.at, result, failed)
	q.s.rec.Options(result)
	return q.s, nil
}
