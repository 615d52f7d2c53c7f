package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// Bounds of a server's description of its tools.
const (
	maxTools  = 512
	maxDoc    = 8 << 10  // bytes
	maxSchema = 64 << 10 // bytes
	maxAsked  = 8 << 10  // bytes of an input that an approval question shows
)

// A remote is a tool as its server describes it.
type remote struct {
	Name     string
	Title    string
	Doc      string
	Schema   json.RawMessage
	OnlyRead bool
}

// list asks the server for its tools.
func (c *client) list(ctx context.Context) (all []remote, err error) {
	now, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeout(ctx, c.options.Connect)
	defer stop()
	if r := now.session.InitializeResult(); r != nil && r.Capabilities != nil && r.Capabilities.Tools == nil {
		return nil, nil // the server has no tools
	}
	for t, err := range now.session.Tools(limited, nil) {
		if err != nil {
			return nil, err
		}
		if len(all) == maxTools {
			return nil, fmt.Errorf("more than %d tools", maxTools)
		}
		r := remote{Name: t.Name, Title: t.Title, Doc: t.Description, Schema: schema(t.InputSchema)}
		if t.Annotations != nil {
			r.OnlyRead = t.Annotations.ReadOnlyHint
		}
		if len(r.Schema) > maxSchema {
			return nil, fmt.Errorf("tool %q: a schema of %d bytes: at most %d are taken", t.Name, len(r.Schema), maxSchema)
		}
		if len(r.Doc) > maxDoc {
			r.Doc = strings.ToValidUTF8(r.Doc[:maxDoc], "") + "…"
		}
		all = append(all, r)
	}
	return all, nil
}

// schema returns a server's schema as one that providers accept: of an object.
func schema(v any) json.RawMessage {
	m, ok := v.(map[string]any)
	if !ok || m["type"] != "object" {
		return json.RawMessage(`{"type":"object"}`)
	}
	return skein.MustJSON(m)
}

// tool returns r as a tool with this name.
func (c *client) tool(name string, r remote) tool.Tool {
	t := tool.Tool{
		Spec: llm.ToolSpec{Name: name, Doc: r.Doc, Schema: r.Schema},
		Safe: r.OnlyRead,
		Title: func(input json.RawMessage) string {
			if s := string(input); s != "{}" {
				return tool.Line(s)
			}
			return ""
		},
		Run: func(ctx context.Context, call tool.Call) (tool.Output, error) { return c.call(ctx, call, r.Name) },
	}
	if !r.OnlyRead {
		t.Ask = func(call tool.Call) string {
			return fmt.Sprintf("Let %s of the MCP server %s run with this?\n\n%s",
				tool.Visible(r.Name, maxAsked), tool.Visible(c.server.Name, maxAsked), tool.Visible(string(call.Input), maxAsked))
		}
	}
	return t
}

// call calls the tool with this name on the server.
func (c *client) call(ctx context.Context, call tool.Call, name string) (out tool.Output, err error) {
	input := call.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if !json.Valid(input) || input[0] != '{' {
		return out, fmt.Errorf("input %.100q: want a JSON object", []byte(input))
	}
	now, err := c.connect(ctx)
	if err != nil {
		return out, fmt.Errorf("mcp server %s: %w", c.server.Name, err)
	}
	p := &sdk.CallToolParams{Name: name, Arguments: input}
	if call.Progress != nil {
		token, stop := c.watching(call.Progress)
		defer stop()
		p.SetProgressToken(token)
	}
	limited, stop := context.WithTimeoutCause(ctx, c.options.Call, fmt.Errorf("no answer after %v", c.options.Call))
	defer stop()
	res, err := now.session.CallTool(limited, p)
	switch {
	case err == nil:
		return output(res), nil
	case ctx.Err() != nil:
		return tool.Output{Text: "[interrupted: it is unknown whether the tool took effect]\n", Failed: true}, nil
	case limited.Err() != nil:
		err = context.Cause(limited)
	case !errors.As(err, new(*jsonrpc.Error)): // the server did not answer
		c.drop(now)
		err = fmt.Errorf("the server ended before it answered: it is unknown whether the tool took effect (%w)", err)
	}
	return out, fmt.Errorf("mcp server %s: %w", c.server.Name, err)
}
