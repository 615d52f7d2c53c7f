package cli_test

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// asks sends a request to $SERVER with the token in $TOKEN_FILE, checks the status
// of the response, and writes its body to stdout.
func asks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: asks STATUS METHOD PATH [BODY]")
	}
	body := strings.Join(args[3:], " ")
	r, err := http.NewRequest(args[1], ts.Getenv("SERVER")+args[2], strings.NewReader(body)) //nolint:noctx // the script ends it
	ts.Check(err)
	if name := ts.Getenv("TOKEN_FILE"); name != "" {
		token, err := os.ReadFile(name)
		ts.Check(err)
		first, _, _ := strings.Cut(string(token), "\n")
		r.Header.Set("Authorization", "Bearer "+first)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if args[2] == "/mcp" {
		r.Header.Set("Accept", "application/json, text/event-stream") // as MCP requires
	}
	a, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer a.Body.Close() //nolint:errcheck // it was read
	b, err := io.ReadAll(a.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(append(b, '\n'))
	ts.Check(err)
	if strconv.Itoa(a.StatusCode) != args[0] {
		ts.Fatalf("%v = %d %s, want %s", args[1:], a.StatusCode, b, args[0])
	}
}
