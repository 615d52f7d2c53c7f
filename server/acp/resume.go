package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/wire"
	"github.com/skein-dev/skein/store/lenient"
)

// load opens a session and shows it from its beginning.
func (r *relay) load(ctx context.Context, a *asking) (any, error) {
	s, err := r.open(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := r.replay(ctx, s); err != nil {
		return nil, err
	}
	return s.opened, nil
}

// resume opens a session.
func (r *relay) resume(ctx context.Context, a *asking) (any, error) {
	s, err := r.open(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.opened, nil
}

// open opens a session that is stored, in the agent too.
func (r *relay) open(ctx context.Context, a *asking) (*session, error) {
	if s := r.byOuter(a.SessionID); s != nil {
		return s, nil
	}
	id := skein.SessionID(a.SessionID)
	stored, err := r.catalog().Session(ctx, id)
	if err != nil {
		return nil, err
	}
	was, fresh, calls, err := r.bound(ctx, id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	if s := r.outer[a.SessionID]; s != nil { // another request has opened it meanwhile
		r.mu.Unlock()
		return s, nil
	}
	s := r.add(id, "", a.Meta.Skein.TakeOver)
	r.mu.Unlock()
	if err := s.rec.Held(); err != nil {
		r.forget(s)
		return nil, heldElsewhere(err)
	}
	s.rec.Known(calls)
	if stored.Open != nil && stored.LeftRunning() {
		s.rec.LeftRunning(stored.Open)
	}
	inner := ""
	if fresh {
		inner = was.Session
	}
	if err := r.openInner(ctx, s, inner, a); err != nil {
		r.forget(s)
		return nil, errors.Join(err, s.rec.Close())
	}
	if c, differs := r.changed(&stored, a.Cwd); differs {
		s.rec.Begin(skein.NewEvent(skein.KindChanged, r.now(), c))
	}
	s.rec.Begin(skein.NewEvent(skein.KindResumed, r.now(), skein.Program{Program: r.o.Program, Version: r.o.Version, Host: r.o.Host}))
	s.rec.Note("session", skein.MustJSON(r.binding(s)))
	return s, nil
}

// changed returns what is different from now on: the agent, the folder.
func (r *relay) changed(s *skein.Session, cwd string) (c skein.Changed, differs bool) {
	now := r.created(sessionStart{cwd: cwd})
	if now.Agent != s.Agent {
		c.Agent, differs = &now.Agent, true
	}
	if cwd != "" && cwd != s.Cwd {
		c.Cwd, c.Project, c.Checkout, differs = &now.Cwd, &now.Project, now.Checkout, true
	}
	return c, differs
}

// heldElsewhere says what to do about a session that is open in another editor.
func heldElsewhere(err error) error {
	if errors.Is(err, skein.ErrLocked) {
		return fmt.Errorf("%w; close it there first", err)
	}
	return err
}

// bound returns which session of an agent a session was last, whether that agent is this
// one and has all of it, and the calls that were made.
func (r *relay) bound(ctx context.Context, id skein.SessionID) (b Binding, fresh bool, calls []string, err error) {
	for e, err := range lenient.Store(r.o.Store, nil).Events(ctx, id, 0) {
		if err != nil {
			return b, false, nil, err
		}
		switch e.Kind {
		case skein.KindCreated:
			c, err := skein.Decode[skein.Created](e)
			var config struct{ ACP *Binding }
			if err == nil && json.Unmarshal(c.Config, &config) == nil && config.ACP != nil {
				b, fresh = *config.ACP, true
			} else {
				fresh = false // a fork, or another program's
			}
		case skein.KindNoted:
			n, err := skein.Decode[skein.Noted](e)
			if err == nil && n.Name == "acp:session" && json.Unmarshal(n.Data, &b) == nil {
				fresh = true
			}
		case skein.KindSaid:
			if m, err := skein.Decode[skein.Message](e); err == nil {
				for _, p := range m.Parts {
					if p.Call != nil {
						calls = append(calls, p.Call.ID)
					}
				}
			}
			fresh = fresh && strings.HasPrefix(string(e.ClientID), record.Ours)
		case skein.KindRewound, skein.KindAmended:
			fresh = false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return b, fresh && b.Session != "" && b.Agent.Name == r.agent.Name, calls, nil
}

// openInner makes the agent have a session: the one that it has already, one that is
// written for it, or a new one that is told the context in its first prompt.
func (r *relay) openInner(ctx context.Context, s *session, inner string, a *asking) error {
	if inner != "" && r.reopen(ctx, s, inner, a) == nil {
		return nil
	}
	if r.o.Write != nil && (r.can("load") || r.can("resume")) {
		inner, lost, err := r.o.Write(ctx, r.agent.name(), s.outer, a.Cwd)
		if err == nil {
			err = r.reopen(ctx, s, inner, a)
		}
		if err == nil {
			r.notice(s, "Written for "+r.agent.name(), lost)
			return nil
		}
	}
	before, err := r.asText(ctx, s.outer)
	if err != nil {
		return err
	}
	result, err := r.begin(ctx, s, "session/new", wire.With(wire.With(nil, "cwd", skein.MustJSON(a.Cwd)), "mcpServers", servers(a)))
	if err != nil {
		return err
	}
	if s.before = before; before != "" {
		r.notice(s, r.agent.name()+" could not load this session", []string{"it is given the conversation with your next prompt: text, and the names of tools"})
	}
	s.opened = without(result)
	return nil
}

func servers(a *asking) []byte {
	if len(a.McpServers) == 0 {
		return []byte("[]")
	}
	return a.McpServers
}

// reopen opens a session that the agent has.
func (r *relay) reopen(ctx context.Context, s *session, inner string, a *asking) (err error) {
	params := wire.With(wire.With(a.raw, "sessionId", wire.Quote(inner)), "mcpServers", servers(a))
	for _, how := range []string{"resume", "load"} {
		if !r.can(how) {
			continue
		}
		r.bind(s, inner, true)
		result, rerr := r.request(ctx, "session/"+how, json.RawMessage(params))
		r.bind(s, inner, false)
		if rerr == nil {
			s.rec.Options(result)
			s.opened = without(result)
			return nil
		}
		err = rerr
	}
	if err == nil {
		err = fmt.Errorf("%s cannot load sessions", r.agent.name())
	}
	r.unbind(s)
	return err
}

// begin makes a session of the agent's the one that s is.
func (r *relay) begin(ctx context.Context, s *session, method string, params []byte) (json.RawMessage, error) {
	r.mu.Lock()
	r.expected = append(r.expected, s) // the agent may speak in it before it answers
	s.muted = true                     // opencode 1.18.33 shows a fork from its beginning
	r.mu.Unlock()
	result, err := r.request(ctx, method, json.RawMessage(params))
	inner := wire.Unquote(wire.Member(result, "sessionId"))
	r.mu.Lock()
	for i, e := range r.expected {
		if e == s {
			r.expected = append(r.expected[:i:i], r.expected[i+1:]...)
			break
		}
	}
	r.mu.Unlock()
	if err == nil && inner == "" {
		err = fmt.Errorf("%s: the agent names no session", method)
	}
	if err != nil {
		return nil, err
	}
	r.bind(s, inner, false)
	s.rec.Options(result)
	return result, nil
}

// without returns the result of session/new as that of session/load.
func without(result json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(result, &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	delete(o, "sessionId")
	return skein.MustJSON(o)
}

// fork begins a session that shows another one, up to a message if the request names one.
func (r *relay) fork(ctx context.Context, a *asking) (any, error) {
	from, err := r.catalog().Session(ctx, skein.SessionID(a.SessionID))
	if err != nil {
		return nil, err
	}
	at, whole := a.ForkAt(&from)
	parent := r.byOuter(a.SessionID)
	r.mu.Lock()
	s := r.add(skein.NewSessionID(r.o.Now()), "", false)
	c := r.created(sessionStart{cwd: a.Cwd, parent: &skein.Parent{Session: from.ID, Seq: at, Why: skein.Fork}})
	r.mu.Unlock()
	s.rec.Begin(skein.NewEvent(skein.KindCreated, r.now(), c))
	if err := s.rec.Flush(); err != nil {
		r.forget(s)
		return nil, err
	}
	if parent != nil && whole && r.can("fork") {
		params := wire.With(a.raw, "sessionId", wire.Quote(parent.inner))
		var result json.RawMessage
		if result, err = r.begin(ctx, s, "session/fork", params); err == nil {
			s.opened = without(result)
		}
	} else {
		err = r.openInner(ctx, s, "", a)
	}
	if err != nil {
		r.forget(s)
		return nil, errors.Join(err, s.rec.Close())
	}
	s.rec.Note("session", skein.MustJSON(r.binding(s)))
	return json.RawMessage(wire.With(s.opened, "sessionId", wire.Quote(string(s.outer)))), nil
}
