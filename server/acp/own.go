package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

// An agentReply is what the agent answers to a request of the relay's own.
type agentReply struct{ result, failed []byte }

// ownID begins the IDs of the relay's own requests.
const ownID = `"skein-`

// request makes a request of the agent, and returns its result.
//
// The error is the agent's answer, or ctx's.
func (r *relay) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c := make(chan agentReply, 1)
	r.mu.Lock()
	r.n++
	id := fmt.Sprintf(`%s%d"`, ownID, r.n)
	r.own[id] = c
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.own, id)
		r.mu.Unlock()
	}()
	r.toAgent.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, skein.MustJSON(params)))
	select {
	case a := <-c:
		if len(a.failed) > 0 {
			var e struct{ Message string }
			_ = json.Unmarshal(a.failed, &e) // else it says nothing
			return nil, fmt.Errorf("the agent refuses %s: %s", method, e.Message)
		}
		return a.result, nil
	case <-r.agentEnded:
		return nil, fmt.Errorf("%s: the agent has ended", method)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ownAnswer reports whether a line is the answer to a request of the relay's own, and
// hands it over.
func (r *relay) ownAnswer(all []wire.Message, line []byte) bool {
	if len(all) != 1 || !all[0].IsAnswer() || !strings.HasPrefix(all[0].ID, ownID) {
		return false
	}
	r.mu.Lock()
	c := r.own[all[0].ID]
	r.mu.Unlock()
	if c != nil {
		c <- agentReply{all[0].Result.Of(line), all[0].Error.Of(line)}
	}
	return true
}

// offers are what sessions can do here whatever the agent can.
var offers = []string{"list", "resume", "fork", "close", "delete", "title"}

// offer adds to the answer to initialize what is served from the store.
func (r *relay) offer(result []byte) []byte {
	caps := wire.Member(result, "agentCapabilities")
	sessions := wire.Member(caps, "sessionCapabilities")
	for _, name := range offers {
		if v := wire.Member(sessions, name); len(v) == 0 || string(v) == "null" {
			sessions = wire.With(sessions, name, []byte("{}"))
		}
	}
	caps = wire.With(wire.With(caps, "sessionCapabilities", sessions), "loadSession", []byte("true"))
	return wire.With(result, "agentCapabilities", caps)
}

// can reports whether the agent itself can do something with sessions.
func (r *relay) can(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if what == "load" {
		return string(wire.Member(r.agent.caps, "loadSession")) == "true"
	}
	v := wire.Member(wire.Member(r.agent.caps, "sessionCapabilities"), what)
	return len(v) > 0 && string(v) != "null"
}
