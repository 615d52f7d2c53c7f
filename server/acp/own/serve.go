package own

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/server/acp/stored"
)

// An editorPeer is what an editor says about itself.
type editorPeer struct {
	name          string
	reads, writes bool // files
	notices       bool // it shows them
	terminals     bool // it shows the output of commands as terminals
}

// version is that of the protocol.
const version = 1

// requestParams are those of all requests.
type requestParams struct {
	stored.Request
	Prompt   []json.RawMessage `json:"prompt"`
	ConfigID string            `json:"configId"`
	Value    any               `json:"value"`
}

// answer answers a request. What is to be done after the answer was sent is then.
func (c *editorLink) answer(ctx context.Context, m *message) (result any, then func(), err error) {
	var p requestParams
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return nil, nil, &codedError{stored.InvalidParams, "params: " + err.Error()}
		}
	}
	id := skein.SessionID(p.SessionID)
	switch m.Method {
	case "initialize":
		return c.initialize(m.Params), nil, nil
	case "session/new":
		return c.open(ctx, &p, Opening{})
	case "session/load":
		return c.load(ctx, &p)
	case "session/resume":
		return c.resume(ctx, &p)
	case "session/fork":
		return c.fork(ctx, &p)
	case "session/list":
		result, err = c.catalog().List(ctx, &p.Request, "")
		return result, nil, err
	case "session/close":
		return struct{}{}, nil, c.end(id, "done")
	case "session/delete":
		if err := c.end(id, "done"); err != nil {
			return nil, nil, err
		}
		return struct{}{}, nil, c.catalog().Bin(ctx, id)
	case "session/set_title":
		result, err = c.catalog().Rename(ctx, &p.Request, skein.At(c.o.Now()))
		return result, nil, err
	case "session/prompt", "session/set_mode", "session/set_config_option":
		s := c.session(id)
		if s == nil || m.Method == "session/set_mode" { // else it was answered when it came
			return nil, nil, fmt.Errorf("session %q is not open here: load it first: %w", id, skein.ErrNotFound)
		}
		if m.Method == "session/prompt" {
			return s.prompt(ctx, &p)
		}
		return s.setOption(ctx, &p)
	}
	return nil, nil, &codedError{noMethod, fmt.Sprintf("there is no method %q", m.Method)}
}

func (c *editorLink) catalog() *stored.Catalog {
	return &stored.Catalog{Store: c.o.Store, User: c.o.User, Checkout: c.o.Checkout, Dir: c.o.Dir}
}

// initialize begins the conversation.
func (c *editorLink) initialize(params []byte) any {
	var p struct {
		ClientInfo         struct{ Name string }
		ClientCapabilities struct {
			FS      struct{ ReadTextFile, WriteTextFile bool }
			Session struct{ Notices json.RawMessage }
			Meta    struct {
				Terminals bool `json:"terminal_output"`
			} `json:"_meta"`
		}
	}
	_ = json.Unmarshal(params, &p) // what it does not say, it cannot
	can := p.ClientCapabilities
	c.mu.Lock()
	c.client = editorPeer{p.ClientInfo.Name, can.FS.ReadTextFile, can.FS.WriteTextFile, len(can.Session.Notices) > 0 && string(can.Session.Notices) != "null", can.Meta.Terminals}
	c.mu.Unlock()
	yes := struct{}{}
	return map[string]any{
		"protocolVersion": version,
		"agentInfo":       map[string]any{"name": "skein", "title": "skein", "version": c.o.Version},
		"authMethods":     []any{},
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  map[string]any{"image": true, "embeddedContext": true},
			"mcpCapabilities":     map[string]any{"http": true},
			"sessionCapabilities": map[string]any{"list": yes, "resume": yes, "fork": yes, "close": yes, "delete": yes, "title": yes},
		},
	}
}

// serversOf returns the MCP servers that an editor brings. Their texts are taken as they
// are: a $ is no variable.
func serversOf(raw json.RawMessage) (all []roster.Server, err error) {
	type pair struct{ Name, Value string }
	var given []struct {
		Type, Name, Command, URL string
		Args                     []string
		Env, Headers             []pair
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return nil, &codedError{stored.InvalidParams, "mcpServers: " + err.Error()}
		}
	}
	exact := func(pairs []pair) map[string]string {
		m := map[string]string{}
		for _, p := range pairs {
			m[p.Name] = strings.ReplaceAll(p.Value, "$", "$$")
		}
		return m
	}
	for _, g := range given {
		if g.Type != "" && g.Type != "http" && g.Type != "stdio" {
			return nil, &codedError{stored.InvalidParams, fmt.Sprintf("mcp server %s: type %q: want stdio or http", g.Name, g.Type)}
		}
		all = append(all, roster.Server{
			Name: g.Name, Command: g.Command, Args: g.Args, Env: exact(g.Env),
			URL: strings.ReplaceAll(g.URL, "$", "$$"), Headers: exact(g.Headers),
		})
	}
	return all, nil
}

// folderOf returns the folder that a request names.
func folderOf(p *requestParams) (string, error) {
	if p.Cwd != "" && !filepath.IsAbs(p.Cwd) {
		return "", &codedError{stored.InvalidParams, fmt.Sprintf("cwd %q: want an absolute path", p.Cwd)}
	}
	return p.Cwd, nil
}
