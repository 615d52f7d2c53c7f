package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asServer is the environment variable that makes this test binary a server.
const asServer = "SKEIN_TEST_MCP"

func TestMain(m *testing.M) {
	switch kind := os.Getenv(asServer); kind {
	case "":
		os.Exit(m.Run())
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "talkative": // writes a log to the stream of its messages
		fmt.Println("Welcome to the server!\n{\"level\":\"info\"}\n\n[1, 2]")
		defer fmt.Println("bye")
		_ = newServer().Run(context.Background(), &sdk.IOTransport{Reader: os.Stdin, Writer: between{os.Stdout}})
	case "stubborn": // answers, and does not exit when its input ends
		_ = newServer().Run(context.Background(), &sdk.StdioTransport{})
		select {}
	case "broken":
		fmt.Fprintln(os.Stderr, "config.json: no such file")
		os.Exit(3)
	case "garbage":
		fmt.Println("Welcome to the server!")
	default:
		if err := newServer().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// A between writes a line of its own between any two messages.
type between struct{ io.WriteCloser }

func (w between) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.WriteCloser, "DEBUG: answering\n"); err != nil {
		return 0, err
	}
	return w.WriteCloser.Write(b)
}

// newServer returns a real server with one tool for each promise.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	object := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)
	add := func(name string, hints *sdk.ToolAnnotations, do func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "does " + name, InputSchema: object, Annotations: hints}, do)
	}
	only := &sdk.ToolAnnotations{ReadOnlyHint: true}
	add("echo", only, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return texts(string(r.Params.Arguments)), nil
	})
	add("write it/now", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return texts("written"), nil
	})
	add("environ", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		return texts(strings.Join(os.Environ(), "\n"), "cwd="+dir, fmt.Sprint("pid=", os.Getpid()), open()), err
	})
	add("fails", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := texts("there is no such page")
		r.IsError = true
		return r, nil
	})
	add("breaks", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("the server has a bad day")
	})
	add("exits", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Exit(1)
		return nil, nil
	})
	add("hangs", only, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: "half way", Progress: 1})
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("picture", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "see:"},
			&sdk.ImageContent{Data: []byte("\x89PNG\r\n\x1a\n"), MIMEType: "image/png"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///a.txt", Text: "inside"}},
			&sdk.ResourceLink{URI: "https://example.org/x", Name: "x"},
		}}, nil
	})
	add("long", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return texts(strings.Repeat("0123456789abcde\n", 8000)), nil
	})
	add("structured", only, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"a": "<b>"}}, nil
	})
	return s
}

func texts(all ...string) *sdk.CallToolResult {
	r := &sdk.CallToolResult{}
	for _, t := range all {
		r.Content = append(r.Content, &sdk.TextContent{Text: t})
	}
	return r
}

// open says whether the descriptor that the test leaked is open.
func open() string {
	if _, err := os.Stat("/dev/fd/" + os.Getenv("LEAKED")); err == nil && os.Getenv("LEAKED") != "" {
		return "descriptor=open"
	}
	return "descriptor=closed"
}
