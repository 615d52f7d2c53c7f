package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/recording"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/wire"
	"github.com/skein-dev/skein/store/lenient"
)

// load opens a session and shows it from its beginning.
func (v *storeServer) load(ctx context.Context, a *asking) (any, error) {
	s, err := v.open(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := replay(ctx, v.o.Store, s); err != nil {
		return nil, err
	}
	return s.opened, nil
}

// resume opens a session.
func (v *storeServer) resume(ctx context.Context, a *asking) (any, error) {
	s, err := v.open(ctx, a)
	if err != nil {
		return nil, err
	}
	return s.opened, nil
}

// open opens a session that is stored, in the agent too.
func (v *storeServer) open(ctx context.Context, a *asking) (*session, error) {
	if s := v.sessions.byOuter(a.SessionID); s != nil {
		return s, nil
	}
	id := skein.SessionID(a.SessionID)
	stored, err := v.catalog().Session(ctx, id)
	if err != nil {
		return nil, err
	}
	was, err := v.bound(ctx, &stored)
	if err != nil {
		return nil, err
	}
	s, added := v.sessions.add(id, a.Meta.Skein.TakeOver)
	if !added { // another request has opened it meanwhile
		return s, nil
	}
	if err := s.rec.Held(); err != nil {
		v.sessions.forget(s)
		s.live.Close()
		return nil, heldElsewhere(err)
	}
	var running []string
	if stored.LeftRunning() {
		running = stored.Open
	}
	s.rec.Continue(stored.Last, was.calls, running)
	inner := ""
	if was.fresh {
		inner = was.Session
	}
	if err := v.openInner(ctx, s, inner, a); err != nil {
		v.sessions.forget(s)
		s.live.Close()
		return nil, errors.Join(err, s.rec.Close())
	}
	if c, differs := v.changed(&stored, a.Cwd); differs {
		s.rec.Begin(skein.NewEvent(skein.KindChanged, v.now(), c))
	}
	s.rec.Begin(skein.NewEvent(skein.KindResumed, v.now(), skein.Program{Program: v.o.Program, Version: v.o.Version, Host: v.o.Host}))
	s.rec.Note("session", skein.MustJSON(v.sessions.binding(s.inner)))
	v.tellUnsent(s, was.unsent)
	return s, nil
}

// tellUnsent tells the editor of prompts that waited when the program that had the
// session ended. They are not sent: their time may have passed.
func (v *storeServer) tellUnsent(s *session, all []record.GuestPrompt) {
	var lines []string
	for _, p := range all {
		lines = append(lines, p.By+": "+p.Words())
		p.Blocks = nil
		s.rec.Note("prompt_unsent", skein.MustJSON(p))
	}
	s.notice(v.known().notices, "Not sent, because skein ended while it waited", lines)
}

// A boundSession is what the events of a session say of it.
type boundSession struct {
	Binding                      // the agent's session that it was last
	fresh   bool                 // that agent is this one and has all of it
	calls   []string             // that were made
	unsent  []record.GuestPrompt // see [record.Unsent]
}

// changed returns what is different from now on: the agent, the folder.
func (v *storeServer) changed(s *skein.Session, cwd string) (c skein.Changed, differs bool) {
	now := v.sessions.created(sessionStart{cwd: cwd})
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

// bound reads the events of a session. What was imported since from the agent's own file,
// the agent has.
func (v *storeServer) bound(ctx context.Context, of *skein.Session) (b boundSession, err error) {
	var others []skein.ClientID
	for e, err := range lenient.Store(v.o.Store, nil).Events(ctx, of.ID, 0) {
		if err != nil {
			return b, err
		}
		switch e.Kind {
		case skein.KindCreated:
			c, err := skein.Decode[skein.Created](e)
			var config struct{ ACP *Binding }
			if err == nil && json.Unmarshal(c.Config, &config) == nil && config.ACP != nil {
				b.Binding, b.fresh = *config.ACP, true
			} else {
				b.fresh = false // a fork, or another program's
			}
		case skein.KindNoted:
			n, err := skein.Decode[skein.Noted](e)
			if err == nil && n.Name == "acp:session" && json.Unmarshal(n.Data, &b.Binding) == nil {
				b.fresh, others = true, nil
			}
			b.unsent = record.Unsent(b.unsent, &n)
		case skein.KindSaid, skein.KindRewound, skein.KindAmended:
			if m, err := skein.Decode[skein.Message](e); err == nil && e.Kind == skein.KindSaid {
				for _, p := range m.Parts {
					if p.Call != nil {
						b.calls = append(b.calls, p.Call.ID)
					}
				}
			}
			if !strings.HasPrefix(string(e.ClientID), recording.ClientIDs) {
				b.fresh, others = b.fresh && e.ClientID != "", append(others, e.ClientID)
			}
		}
	}
	if b.fresh = b.fresh && (len(others) == 0 || of.Origin == nil || of.Origin.ID == b.Session); b.fresh && len(others) > 0 {
		found, err := skein.SourcesOf(v.o.Store).Find(ctx, others)
		if err != nil {
			return b, err
		}
		b.fresh = !slices.ContainsFunc(others, func(k skein.ClientID) bool { return found[k].Session != of.ID })
	}
	b.fresh = b.fresh && b.Session != "" && b.Agent.Name == v.known().agent.Name
	return b, nil
}

// openInner makes the agent have a session: the one that it has already, one that is
// written for it, or a new one that is told the context in its first prompt.
func (v *storeServer) openInner(ctx context.Context, s *session, inner string, a *asking) error {
	p := v.known()
	agent := &p.agent
	if inner != "" && v.reopen(ctx, s, inner, a) == nil {
		return nil
	}
	if v.o.Write != nil && (agent.can("load") || agent.can("resume")) {
		inner, lost, err := v.o.Write(ctx, agent.name(), s.outer, a.Cwd)
		if err == nil {
			err = v.reopen(ctx, s, inner, a)
		}
		if err == nil {
			s.notice(p.notices, "Written for "+agent.name(), lost)
			return nil
		}
	}
	before, err := asText(ctx, v.o.Store, s.outer)
	if err != nil {
		return err
	}
	result, err := v.begin(ctx, s, "session/new", wire.With(wire.With(nil, "cwd", skein.MustJSON(a.Cwd)), "mcpServers", servers(a)))
	if err != nil {
		return err
	}
	if s.before = before; before != "" {
		s.notice(p.notices, agent.name()+" could not load this session", []string{"it is given the conversation with your next prompt: text, and the names of tools"})
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
func (v *storeServer) reopen(ctx context.Context, s *session, inner string, a *asking) (err error) {
	params := wire.With(wire.With(a.raw, "sessionId", wire.Quote(inner)), "mcpServers", servers(a))
	agent := v.known().agent
	for _, how := range []string{"resume", "load"} {
		if !agent.can(how) {
			continue
		}
		v.sessions.bind(s, inner, true)
		result, rerr := v.request(ctx, "session/"+how, json.RawMessage(params))
		v.sessions.bind(s, inner, false)
		if rerr == nil {
			s.rec.Options(result)
			s.opened = without(result)
			return nil
		}
		err = rerr
	}
	if err == nil {
		err = fmt.Errorf("%s cannot load sessions", agent.name())
	}
	v.sessions.unbind(s)
	return err
}

// begin makes a session of the agent's the one that s is.
func (v *storeServer) begin(ctx context.Context, s *session, method string, params []byte) (json.RawMessage, error) {
	v.sessions.expect(s)
	v.opens(ctx, s, v.now())
	defer func() {
		_ = s.rec.Flush() // what the agent calls it; the next prompt tells if that failed
		v.opens(context.WithoutCancel(ctx), s, 0)
	}()
	result, err := v.request(ctx, method, json.RawMessage(params))
	inner := wire.Unquote(wire.Member(result, "sessionId"))
	v.sessions.named(s)
	if err == nil && inner == "" {
		err = fmt.Errorf("%s: the agent names no session", method)
	}
	if err != nil {
		return nil, err
	}
	v.sessions.bind(s, inner, false)
	s.rec.Options(result)
	return result, nil
}

// opens notes in the store since when the agent opens s, 0 once it has. If that fails, a
// file that the agent writes meanwhile may be taken for another session.
func (v *storeServer) opens(ctx context.Context, s *session, since skein.Time) {
	_, _ = v.o.Store.Append(ctx, skein.Batch{Session: s.outer, Import: &skein.Import{File: recording.Opening(s.outer, since)}})
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
func (v *storeServer) fork(ctx context.Context, a *asking) (any, error) {
	from, err := v.catalog().Session(ctx, skein.SessionID(a.SessionID))
	if err != nil {
		return nil, err
	}
	at, whole := a.ForkAt(&from)
	parent := v.sessions.byOuter(a.SessionID)
	s, _ := v.sessions.add(skein.NewSessionID(v.o.Now()), false)
	c := v.sessions.created(sessionStart{cwd: a.Cwd, parent: &skein.Parent{Session: from.ID, Seq: at, Why: skein.Fork}})
	s.rec.Begin(skein.NewEvent(skein.KindCreated, v.now(), c))
	if err := s.rec.Flush(); err != nil {
		v.sessions.forget(s)
		s.live.Close()
		return nil, err
	}
	if agent := v.known().agent; parent != nil && whole && agent.can("fork") {
		params := wire.With(a.raw, "sessionId", wire.Quote(parent.inner))
		var result json.RawMessage
		if result, err = v.begin(ctx, s, "session/fork", params); err == nil {
			s.opened = without(result)
		}
	} else {
		err = v.openInner(ctx, s, "", a)
	}
	if err != nil {
		v.sessions.forget(s)
		s.live.Close()
		return nil, errors.Join(err, s.rec.Close())
	}
	s.rec.Note("session", skein.MustJSON(v.sessions.binding(s.inner)))
	return json.RawMessage(wire.With(s.opened, "sessionId", wire.Quote(string(s.outer)))), nil
}
