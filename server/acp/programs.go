package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

// programs are the editor and the agent: how they are reached, and what they say about
// themselves.
type programs struct {
	o          Options
	ctx        context.Context //nolint:containedctx // it ends with the connection
	toAgent    *peerQueue
	toEditor   *peerQueue
	agentEnded chan struct{} // closed once the agent has said everything

	mu   sync.Mutex
	said introductions
	n    int // number of requests of the relay's own
	own  map[string]chan agentReply
}

// introductions are what both programs say about themselves.
type introductions struct {
	client  peerInfo
	notices bool // the editor shows them
	agent   agentPeer
}

// A peerInfo is what a program says about itself.
type peerInfo struct {
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version,omitempty"`
}

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
	said := a.Name
	if said == "" {
		said = a.command
	}
	said = strings.ToLower(said)
	known := []string{"claude", "codex", "opencode", "gemini", "qwen", "goose", "copilot", "cursor"}
	i := slices.IndexFunc(known, func(part string) bool { return strings.Contains(said, part) })
	switch {
	case i < 0:
		return said
	case known[i] == "claude":
		return "claude-code"
	}
	return known[i]
}

// can reports whether the agent itself can do something with sessions.
func (a *agentPeer) can(what string) bool {
	if what == "load" {
		return string(wire.Member(a.caps, "loadSession")) == "true"
	}
	v := wire.Member(wire.Member(a.caps, "sessionCapabilities"), what)
	return len(v) > 0 && string(v) != "null"
}

// known returns what the programs have said about themselves so far.
func (p *programs) known() introductions {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said
}

// editorSays takes the params of initialize.
func (p *programs) editorSays(params []byte) {
	var said struct {
		ClientInfo         peerInfo
		ClientCapabilities struct {
			Session struct{ Notices json.RawMessage }
		}
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said.client, p.said.notices = said.ClientInfo, len(said.ClientCapabilities.Session.Notices) > 0
}

// agentSays takes the answer to initialize.
func (p *programs) agentSays(result []byte) {
	var said struct {
		ProtocolVersion int
		AgentInfo       peerInfo
	}
	if json.Unmarshal(result, &said) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said.agent = agentPeer{said.AgentInfo, said.ProtocolVersion, filepath.Base(p.o.Command[0]), wire.Member(result, "agentCapabilities")}
}

func (p *programs) now() skein.Time { return skein.At(p.o.Now()) }

// An agentReply is what the agent answers to a request of the relay's own.
type agentReply struct{ result, failed []byte }

// ownID begins the IDs of the relay's own requests.
const ownID = `"skein-`

// request makes a request of the agent, and returns its result.
//
// The error is the agent's answer, or ctx's.
func (p *programs) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c := make(chan agentReply, 1)
	p.mu.Lock()
	p.n++
	id := fmt.Sprintf(`%s%d"`, ownID, p.n)
	p.own[id] = c
	p.mu.Unlock()
	defer p.waitsFor(id)
	p.toAgent.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, skein.MustJSON(params)))
	select {
	case a := <-c:
		if len(a.failed) > 0 {
			return nil, fmt.Errorf("the agent refuses %s: %s", method, errorText(a.failed))
		}
		return a.result, nil
	case <-p.agentEnded:
		return nil, fmt.Errorf("%s: the agent has ended", method)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// waitsFor returns who waits for the answer to a request of the relay's own, once: nil if
// nobody does.
func (p *programs) waitsFor(id string) chan agentReply {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.own[id]
	delete(p.own, id)
	return c
}

// answers reports whether a line is the answer to a request of the relay's own, and hands
// it over.
func (p *programs) answers(all []wire.Message, line []byte) bool {
	if len(all) != 1 || !all[0].IsAnswer() || !strings.HasPrefix(all[0].ID, ownID) {
		return false
	}
	if c := p.waitsFor(all[0].ID); c != nil {
		c <- agentReply{all[0].Result.Of(line), all[0].Error.Of(line)}
	}
	return true
}

// errorText returns the text of an error of JSON-RPC.
func errorText(failed []byte) string {
	var e struct{ Message string }
	_ = json.Unmarshal(failed, &e) // else it says nothing
	return e.Message
}

// offers are what sessions can do here whatever the agent can.
var offers = []string{"list", "resume", "fork", "close", "delete", "title"}

// offer adds to the answer to initialize what is served from the store.
func offer(result []byte) []byte {
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
