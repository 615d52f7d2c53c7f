package acp

import (
	"cmp"
	"encoding/json"

	"github.com/skein-dev/skein/server/acp/wire"
)

// fromEditor takes a line of the editor's.
func (r *relay) fromEditor(line []byte) {
	all, whole := wire.Scan(line)
	if !whole {
		r.toAgent.put(line)
		return
	}
	if len(all) == 1 && (all[0].IsRequest() && r.server.serve(&all[0], line) || all[0].IsAnswer() && r.asking.late(all[0].ID)) {
		return
	}
	if len(all) == 1 && r.isTurn(&all[0], line) {
		return
	}
	r.pass(line, all)
}

// pass records what the editor says, and passes it on.
func (r *relay) pass(line []byte, all []wire.Message) {
	var lead *session // whose queue the line takes
	var first []func() error
	for i := range all {
		m := &all[i]
		s := r.sessions.byOuter(m.Session(line))
		if m.IsAnswer() {
			s = r.decided(m, line)
		} else if wait := r.said(m, s, line); wait != nil {
			first = append(first, wait)
		}
		if lead == nil {
			lead = s
		}
		if m.IsAnswer() && s != nil {
			first = append(first, s.rec.Flush)
		}
	}
	if lead != nil && len(all) == 1 && all[0].Method == "session/prompt" {
		line, all = lead.beforeTurn(line, all)
	}
	out := wire.Apply(line, wire.Rename(line, all, r.sessions.innerOf))
	switch {
	case lead == nil:
		r.toAgent.put(out)
	case len(first) == 0:
		lead.toAgent.pass(out, nil)
	default:
		lead.toAgent.pass(out, func() []byte { return r.after(out, all, first) })
	}
}

// after waits until what the editor said is on disk. If that fails, the agent does not
// see it, and the editor is told.
func (r *relay) after(out []byte, all []wire.Message, first []func() error) []byte {
	for _, wait := range first {
		err := wait()
		if err == nil {
			continue
		}
		for i := range all {
			if q, ok := r.asked.answered(all[i].ID); ok && all[i].IsRequest() {
				r.toEditor.put(failure(all[i].ID, notStored(err)))
				if q.s != nil && q.method == "session/prompt" {
					q.s.live.End(nil, err)
					q.s.turns.ended()
				}
			}
		}
		return nil
	}
	return out
}

// said records a request or notification of the editor's. What it returns must be waited
// for before the agent sees it; nil if nothing must.
func (r *relay) said(m *wire.Message, s *session, line []byte) (wait func() error) {
	params := m.Params.Of(line)
	if m.IsRequest() {
		q := request{method: m.Method, s: s, at: r.now()}
		if m.Method != "session/prompt" && m.Method != "initialize" && len(line) < mostRecorded {
			q.params = params
		}
		r.asked.add(m.ID, q)
	}
	if s != nil && len(line) > mostRecorded {
		s.tooLong(m)
		return s.rec.Flush
	}
	switch {
	case m.Method == "initialize":
		r.editorSays(params)
	case m.Method == "session/new":
		var p struct{ Cwd string }
		if json.Unmarshal(params, &p) == nil {
			r.sessions.begins(sessionStart{cwd: p.Cwd})
		}
	case s == nil:
	case m.Method == "session/prompt":
		s.live.Begin(wire.Member(params, "prompt"), r.known().client.Name, func() { s.rec.Prompt(params) })
		return s.rec.Flush
	case !m.IsRequest():
		s.rec.Note(m.Method, params)
		if m.Method == "session/cancel" {
			s.turns.drop()
		}
	}
	return nil
}

// decided records the editor's answer to a request of the agent's, and returns the
// session that it is in; nil if it is in none.
func (r *relay) decided(m *wire.Message, line []byte) *session {
	q, ok := r.asking.answered(m.ID)
	if !ok || q.s == nil {
		return nil
	}
	result, failed := m.Result.Of(line), m.Error.Of(line)
	if len(line) > mostRecorded {
		q.s.tooLong(m)
		result = nil
	}
	if q.method == "session/request_permission" {
		by := r.known().client.Name
		q.s.rec.Decided(by, q.params, q.at, result, failed)
		q.s.live.Decided(m.ID, result, cmp.Or(by, "the editor"))
	} else {
		q.s.rec.Did(q.method, q.params, q.at, result, failed)
	}
	return q.s
}
