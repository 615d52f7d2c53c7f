package roster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
)

func TestMain(m *testing.M) {
	if os.Getenv("TEST_SERVES") != "" {
		serve()
		return
	}
	os.Exit(m.Run())
}

// serve speaks just enough of the Model Context Protocol on its standard
// streams: one tool, which says what TEST_SERVES is.
func serve() {
	for r := bufio.NewReader(os.Stdin); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var ask struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if err := json.Unmarshal(line, &ask); err != nil || ask.ID == nil {
			continue
		}
		result := "{}"
		switch ask.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"1"}}`, ask.Params.Version)
		case "tools/list":
			result = `{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, os.Getenv("TEST_SERVES")+" "+os.Getenv("TEST_SECRET"))
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", ask.ID, result)
	}
}

func TestAnAgentHasTheToolsOfItsServers(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_SECRET", "s3cret") // the test's own, which the server must not see
	dir := write(t, map[string]string{"a.md": fmt.Sprintf("---\nmodel: echo\ntools: []\nmcp_servers:\n  here: {command: %q, env: {TEST_SERVES: \"it is ${WHAT}\"}}\n  gone: {command: no-such-program}\n---\n", exe)})
	var told []string
	var trusted []Server
	r := New(Options{
		Getenv: func(name string) string { return map[string]string{"WHAT": "so"}[name] },
		Notice: func(text string) { told = append(told, text) },
		Trust: func(_ context.Context, _ Definition, s Server) error {
			trusted = append(trusted, s)
			return nil
		},
	})
	d, err := r.Definition(filepath.Join(dir, "a.md"), "")
	if err != nil {
		t.Fatal(err)
	}
	team, err := r.Ready(t.Context(), d, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := team.Close(); err != nil {
			t.Error(err)
		}
	}()
	if len(team.Tools) != 1 || team.Tools[0].Spec.Name != "here__say" || team.Tools[0].Ask == nil {
		t.Fatalf("the tools of the agent are %+v, want here__say, which asks", team.Tools)
	}
	out, err := team.Tools[0].Run(t.Context(), tool.Call{ID: "1", Input: json.RawMessage("{}")})
	if diff := cmp.Diff("it is so", strings.TrimSpace(out.Text)); diff != "" || err != nil {
		t.Errorf("here__say = %v (-want +got):\n%s", err, diff)
	}
	if len(trusted) != 2 || len(told) != 1 || !strings.Contains(told[0], "no-such-program") {
		t.Errorf("asked for trust in %d servers, told %q; want 2, and of the one that is gone", len(trusted), told)
	}
	distrust := errors.New("not this one")
	r.Trust = func(context.Context, Definition, Server) error { return distrust }
	if _, err := r.Ready(t.Context(), d, ""); !errors.Is(err, distrust) {
		t.Errorf("Ready with a server that is not trusted = %v, want %v", err, distrust)
	}
	r.Trust, r.Getenv = nil, func(string) string { return "" }
	if _, err := r.Ready(t.Context(), d, ""); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "$WHAT is not set") {
		t.Errorf("Ready where a variable is not set = %v, want an error that names it", err)
	}
}
