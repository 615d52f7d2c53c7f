package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/agent/tool/mcp"
)

// program returns a server that is this test binary.
func program(t *testing.T, name, kind string) mcp.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Server{Name: name, Command: self, Env: map[string]string{asServer: kind, "MY_TOKEN": "named"}}
}

func connect(t *testing.T, o mcp.Options, servers ...mcp.Server) (*mcp.Set, map[string]tool.Tool) {
	t.Helper()
	set := mcp.New(servers, o)
	t.Cleanup(func() { set.Close() })
	all, err := set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]tool.Tool{}
	for _, x := range all {
		by[x.Spec.Name] = x
	}
	return set, by
}

func run(t *testing.T, x tool.Tool, input string) tool.Output {
	t.Helper()
	out, err := x.Run(t.Context(), tool.Call{Input: json.RawMessage(input)})
	if err != nil {
		t.Fatalf("%s %s: %v", x.Spec.Name, input, err)
	}
	return out
}

func TestToolsAreThoseOfTheServers(t *testing.T) {
	_, tools := connect(t, mcp.Options{}, program(t, "my server", "good"), program(t, "b", "good"))
	if len(tools) != 20 {
		t.Errorf("there are %d tools, want those of both", len(tools))
	}
	echo, write := tools["b__echo"], tools["my_server__write_it_now"]
	if echo.Spec.Doc != "does echo" || string(echo.Spec.Schema) != `{"properties":{"text":{"type":"string"}},"type":"object"}` || !echo.Safe || echo.Ask != nil {
		t.Errorf("b__echo is %+v, want what the server says, safe and not asked about", echo)
	}
	c := tool.Call{Input: json.RawMessage("{\"a\":\"\x1b\"}")}
	if write.Safe || write.Ask == nil || write.Ask(c) != "Let write it/now of the MCP server my server run with this?\n\n{\"a\":\"\\x1b\"}" {
		t.Errorf("my_server__write_it_now is %+v; want it to ask", write)
	}
	const in = `{"text":"<a> \u00e9","n":1.0,"big":12345678901234567890}`
	if got := run(t, echo, in).Text; got != in+"\n" {
		t.Errorf("the server got %q, want %q", got, in)
	}
	if got := run(t, write, `{}`).Text; got != "written\n" {
		t.Errorf("write it/now = %q", got)
	}
	if _, err := echo.Run(t.Context(), tool.Call{Input: json.RawMessage(`[1]`)}); err == nil {
		t.Error("input that is no object is sent")
	}
}

func TestAServerMayWriteOtherLinesToo(t *testing.T) {
	_, tools := connect(t, mcp.Options{}, program(t, "t", "talkative"))
	for range 3 {
		if got := run(t, tools["t__echo"], `{"a":1}`).Text; got != "{\"a\":1}\n" {
			t.Errorf("the server answers %q", got)
		}
	}
}

func TestNamesAreFit(t *testing.T) {
	long := strings.Repeat("x", 70)
	_, tools := connect(t, mcp.Options{}, program(t, long, "good"), program(t, "a.b", "good"), program(t, "a b", "good"))
	for name := range tools {
		if len(name) > 64 || !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(name) {
			t.Errorf("a tool is called %q", name)
		}
	}
	if len(tools) != 30 {
		t.Errorf("30 tools have %d names", len(tools))
	}
}

func TestAnswersBecomeTextAndFiles(t *testing.T) {
	_, tools := connect(t, mcp.Options{}, program(t, "s", "good"))
	out := run(t, tools["s__picture"], "{}")
	if want := "see:\n[part 2: image/png, 8 bytes]\n[file:///a.txt]\ninside\n[link: https://example.org/x ]\n"; out.Text != want {
		t.Errorf("a picture is %q, want %q", out.Text, want)
	}
	if len(out.Files) != 1 || out.Files[0].Media != "image/png" || string(out.Blobs[0].Data) != "\x89PNG\r\n\x1a\n" || out.Files[0].Blob != out.Blobs[0].Hash {
		t.Errorf("its files are %+v, want one image with its bytes", out.Files)
	}
	if out := run(t, tools["s__fails"], "{}"); !out.Failed || out.Text != "there is no such page\n" {
		t.Errorf("a tool that says no: %+v, want Failed and its words", out)
	}
	if out := run(t, tools["s__structured"], "{}"); out.Text != `{"a":"<b>"}`+"\n" {
		t.Errorf("structured content is %q", out.Text)
	}
	if out := run(t, tools["s__long"], "{}"); len(out.Blobs) != 1 || len(out.Blobs[0].Data) != 128001 || len(out.Text) > 40<<10 {
		t.Errorf("a long answer: %d blobs, %d bytes of text; want it in a blob", len(out.Blobs), len(out.Text))
	}
	if _, err := tools["s__breaks"].Run(t.Context(), tool.Call{}); err == nil || !strings.Contains(err.Error(), "bad day") {
		t.Errorf("a server's error: %v, want its words", err)
	}
}

func TestAProgramKnowsOnlyWhatItIsTold(t *testing.T) {
	t.Setenv("SECRET_API_KEY", "hidden")
	t.Setenv("SOMETHING", "hidden")
	dir := t.TempDir()
	server := program(t, "s", "good")
	server.Env["LEAKED"] = leak(t)
	_, tools := connect(t, mcp.Options{Cwd: dir}, server)
	got := run(t, tools["s__environ"], "{}").Text
	if strings.Contains(got, "hidden") || !strings.Contains(got, "MY_TOKEN=named") || !strings.Contains(got, "PATH=") {
		t.Errorf("the server knows\n%s\nwant what it was told, and PATH", got)
	}
	if !strings.Contains(got, "cwd=") || !strings.Contains(got, filepath.Base(dir)) {
		t.Errorf("the server runs in\n%s\nwant %s", got, dir)
	}
	if !strings.Contains(got, "descriptor=closed") {
		t.Error("the server has a descriptor of ours")
	}
}

func pid(t *testing.T, x tool.Tool) (n int) {
	t.Helper()
	text := run(t, x, "{}").Text
	if _, err := fmt.Sscanf(text[strings.Index(text, "pid="):], "pid=%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCloseEndsThePrograms(t *testing.T) {
	for _, kind := range []string{"good", "stubborn"} {
		set, tools := connect(t, mcp.Options{Leave: 50 * time.Millisecond}, program(t, "s", kind))
		n := pid(t, tools["s__environ"])
		if !alive(n) {
			t.Fatalf("%s: process %d does not run; the test cannot tell", kind, n)
		}
		if err := set.Close(); err != nil {
			t.Errorf("%s: Close = %v", kind, err)
		}
		if alive(n) {
			t.Errorf("%s: process %d still runs after Close", kind, n)
		}
		if _, err := tools["s__echo"].Run(t.Context(), tool.Call{}); err == nil || !strings.Contains(err.Error(), "session was closed") {
			t.Errorf("%s: a call after Close = %v, want an error that says so", kind, err)
		}
		if err := set.Close(); err != nil {
			t.Errorf("%s: Close again = %v", kind, err)
		}
	}
}

func TestAServerThatWentAwayIsStartedAgain(t *testing.T) {
	_, tools := connect(t, mcp.Options{}, program(t, "s", "good"))
	before := pid(t, tools["s__environ"])
	if out, err := tools["s__exits"].Run(t.Context(), tool.Call{}); err == nil || !strings.Contains(err.Error(), "it is unknown whether the tool took effect") {
		t.Errorf("a call whose server dies = %q, %v; want that its outcome is not known", out.Text, err)
	}
	if after := pid(t, tools["s__environ"]); after == before {
		t.Errorf("process %d answers after its end", after)
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	_, tools := connect(t, mcp.Options{}, program(t, "s", "good"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := ""
	out, err := tools["s__hangs"].Run(ctx, tool.Call{Progress: func(s string) { seen += s; cancel() }})
	if err != nil || !out.Failed || !strings.Contains(out.Text, "interrupted") || seen != "half way\n" {
		t.Errorf("an interrupted call = %+v, %v after %q; want that it was interrupted", out, err, seen)
	}
	if got := run(t, tools["s__echo"], `{"a":1}`).Text; got != "{\"a\":1}\n" {
		t.Errorf("the next call = %q", got)
	}
}

func TestACallHasATimeLimit(t *testing.T) {
	_, tools := connect(t, mcp.Options{Call: 20 * time.Millisecond}, program(t, "s", "good"))
	if out, err := tools["s__hangs"].Run(t.Context(), tool.Call{}); err == nil || !strings.Contains(err.Error(), "no answer after 20ms") {
		t.Errorf("a call that hangs = %+v, %v; want that it took too long", out, err)
	}
}

func TestAServerThatCannotBeReachedIsNamed(t *testing.T) {
	gone := mcp.Server{Name: "gone", Command: "no-such-program-at-all"}
	for _, c := range []struct {
		server mcp.Server
		want   string
	}{
		{gone, "no-such-program-at-all"},
		{program(t, "broken", "broken"), "config.json: no such file"},
		{program(t, "silent", "silent"), "no answer within 200ms"},
		{program(t, "garbage", "garbage"), "it wrote: Welcome to the server!"},
		{mcp.Server{Name: "neither"}, "want a command or a URL"},
		{mcp.Server{Name: "file", URL: "file:///etc/passwd"}, "http://"},
		{mcp.Server{Name: "closed", URL: "http://127.0.0.1:1/mcp"}, "127.0.0.1:1"},
	} {
		o := mcp.Options{Connect: 200 * time.Millisecond, Leave: time.Millisecond}
		if c.server.Name == "broken" || c.server.Name == "garbage" {
			o.Connect = 0
		}
		set := mcp.New([]mcp.Server{c.server}, o)
		_, err := set.Tools(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "mcp server "+c.server.Name) {
			t.Errorf("server %s: %v, want an error that names it and has %q", c.server.Name, err, c.want)
		}
		if err := set.Close(); err != nil {
			t.Errorf("server %s: Close = %v", c.server.Name, err)
		}
	}
	set := mcp.New([]mcp.Server{gone, program(t, "s", "good")}, mcp.Options{})
	defer set.Close()
	tools, err := set.Tools(t.Context())
	if err == nil || len(tools) != 10 {
		t.Errorf("beside one that cannot be reached there are %d tools, %v; want those of the other, and the error", len(tools), err)
	}
}

func TestAServerByURL(t *testing.T) {
	var seen atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Team") != "" {
			t.Error("another host got our header")
		}
		http.NotFound(w, r)
	}))
	defer other.Close()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newServer() }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case r.Header.Get("X-Team") != "red":
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			seen.Add(1)
			handler.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	red := map[string]string{"X-Team": "red"}
	set, tools := connect(t, mcp.Options{}, mcp.Server{Name: "web", URL: server.URL, Headers: red})
	if got := run(t, tools["web__echo"], `{"a":1}`).Text; got != "{\"a\":1}\n" || seen.Load() < 3 {
		t.Errorf("a call over HTTP = %q after %d requests", got, seen.Load())
	}
	if err := set.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	for url, headers := range map[string]map[string]string{server.URL: nil, server.URL + "/away": red} {
		bad := mcp.New([]mcp.Server{{Name: "web", URL: url, Headers: headers}}, mcp.Options{})
		if tools, err := bad.Tools(t.Context()); err == nil {
			t.Errorf("%s with %v has %d tools, want an error", url, headers, len(tools))
		}
		bad.Close()
	}
}

func TestNothingIsStartedBeforeItIsNeeded(t *testing.T) {
	set := mcp.New([]mcp.Server{{Name: "x", Command: "no-such-program-at-all"}}, mcp.Options{})
	if err := set.Close(); err != nil {
		t.Errorf("Close of what was not used = %v", err)
	}
	if tools, err := set.Tools(t.Context()); err == nil || len(tools) > 0 {
		t.Errorf("Tools after Close = %v, %v; want an error", tools, err)
	}
}
