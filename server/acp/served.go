package acp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/acp/wire"
)

// atOnce is how many requests are served at the same time.
const atOnce = 16

// A storeServer answers what the editor asks from the store, whatever the agent can.
type storeServer struct {
	*programs
	sessions *sessionTable
	serving  chan struct{} // has an element for each request that is served
}

// An asking is the params of a request that is served from the store.
type asking struct {
	stored.Request
	raw []byte
}

// served returns what answers requests of a method from the store; nil for others.
func (v *storeServer) served(method string) func(context.Context, *asking) (any, error) {
	if v.known().agent.protocol != 1 {
		return nil
	}
	switch method {
	case "session/list":
		return v.list
	case "session/load":
		return v.load
	case "session/resume":
		return v.resume
	case "session/fork":
		return v.fork
	case "session/close":
		return v.closeSession
	case "session/delete":
		return v.bin
	case "session/set_title":
		return v.rename
	}
	return nil
}

// serve answers a request from the store, unless it is the agent's to answer.
func (v *storeServer) serve(m *wire.Message, line []byte) bool {
	answer := v.served(m.Method)
	if answer == nil {
		return false
	}
	a := &asking{raw: m.Params.Of(line)}
	if err := json.Unmarshal(a.raw, a); err != nil {
		v.toEditor.put(failed(m.ID, stored.InvalidParams, "params: "+err.Error()))
		return true
	}
	id := m.ID
	v.serving <- struct{}{}
	go func() {
		defer func() { <-v.serving }()
		result, err := answer(v.ctx, a)
		switch {
		case err != nil:
			v.toEditor.put(failed(id, stored.Code(err), "skein: "+err.Error()))
		default:
			v.toEditor.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, skein.MustJSON(result)))
		}
	}()
	return true
}

// list returns a page of the sessions of a folder's repository, of all agents.
func (v *storeServer) list(ctx context.Context, a *asking) (any, error) {
	agent := v.known().agent
	return v.catalog().List(ctx, &a.Request, agent.name())
}

func (v *storeServer) catalog() *stored.Catalog {
	return &stored.Catalog{Store: v.o.Store, User: v.o.User, Checkout: v.o.Checkout, Dir: v.o.Dir}
}

// closeSession ends the work on a session.
func (v *storeServer) closeSession(ctx context.Context, a *asking) (any, error) {
	s := v.sessions.byOuter(a.SessionID)
	if s == nil {
		return struct{}{}, nil
	}
	if agent := v.known().agent; agent.can("close") {
		if _, err := v.request(ctx, "session/close", map[string]any{"sessionId": s.inner}); err != nil {
			return nil, err
		}
	}
	v.sessions.forget(s)
	return struct{}{}, v.sessions.end(s, "done")
}

// bin puts a session into the bin. The agent keeps its own.
func (v *storeServer) bin(ctx context.Context, a *asking) (any, error) {
	if _, err := v.closeSession(ctx, a); err != nil {
		return nil, err
	}
	return struct{}{}, v.catalog().Bin(ctx, skein.SessionID(a.SessionID))
}

func (v *storeServer) rename(ctx context.Context, a *asking) (any, error) {
	return v.catalog().Rename(ctx, &a.Request, v.now())
}
