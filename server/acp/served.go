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

// An asking is the params of a request that is served from the store.
type asking struct {
	stored.Request
	raw []byte
}

// served returns what answers requests of a method from the store; nil for others.
func (r *relay) served(method string) func(context.Context, *asking) (any, error) {
	r.mu.Lock()
	v1 := r.agent.protocol == 1
	r.mu.Unlock()
	if !v1 {
		return nil
	}
	switch method {
	case "session/list":
		return r.list
	case "session/load":
		return r.load
	case "session/resume":
		return r.resume
	case "session/fork":
		return r.fork
	case "session/close":
		return r.closeSession
	case "session/delete":
		return r.bin
	case "session/set_title":
		return r.rename
	}
	return nil
}

// serve answers a request from the store, unless it is the agent's to answer.
func (r *relay) serve(m *wire.Message, line []byte) bool {
	answer := r.served(m.Method)
	if answer == nil {
		return false
	}
	a := &asking{raw: m.Params.Of(line)}
	if err := json.Unmarshal(a.raw, a); err != nil {
		r.toEditor.put(failed(m.ID, stored.InvalidParams, "params: "+err.Error()))
		return true
	}
	id := m.ID
	r.serving <- struct{}{}
	go func() {
		defer func() { <-r.serving }()
		result, err := answer(r.ctx, a)
		switch {
		case err != nil:
			r.toEditor.put(failed(id, stored.Code(err), "skein: "+err.Error()))
		default:
			r.toEditor.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, skein.MustJSON(result)))
		}
	}()
	return true
}

// list returns a page of the sessions of a folder's repository, of all agents.
func (r *relay) list(ctx context.Context, a *asking) (any, error) {
	return r.catalog().List(ctx, &a.Request, r.agent.name())
}

func (r *relay) catalog() *stored.Catalog {
	return &stored.Catalog{Store: r.o.Store, User: r.o.User, Checkout: r.o.Checkout, Dir: r.o.Dir}
}

// closeSession ends the work on a session.
func (r *relay) closeSession(ctx context.Context, a *asking) (any, error) {
	s := r.byOuter(a.SessionID)
	if s == nil {
		return struct{}{}, nil
	}
	if r.can("close") {
		if _, err := r.request(ctx, "session/close", map[string]any{"sessionId": s.inner}); err != nil {
			return nil, err
		}
	}
	r.forget(s)
	return struct{}{}, r.endOne(s, "done")
}

// bin puts a session into the bin. The agent keeps its own.
func (r *relay) bin(ctx context.Context, a *asking) (any, error) {
	if _, err := r.closeSession(ctx, a); err != nil {
		return nil, err
	}
	return struct{}{}, r.catalog().Bin(ctx, skein.SessionID(a.SessionID))
}

func (r *relay) rename(ctx context.Context, a *asking) (any, error) {
	return r.catalog().Rename(ctx, &a.Request, r.now())
}
