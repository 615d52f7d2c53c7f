package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/mcp"
)

// An answer is what a server writes: a result or an error.
type answer struct {
	ID    any `json:"id"`
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Result json.RawMessage `json:"result"`
}

// speak starts a server, and returns a function that sends it text and one that
// waits for its next answer.
func speak(t *testing.T) (send func(string), next func() answer) {
	t.Helper()
	toServer, ours := io.Pipe()
	theirs, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := mcp.Serve(t.Context(), mcp.Options{Version: "test", Now: time.Now, Store: store(t)}, toServer, fromServer)
		_, _ = toServer.Close(), fromServer.Close() // nobody waits for a server that has ended
		done <- err
	}()
	t.Cleanup(func() {
		_ = ours.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v, want nil when the client hangs up", err)
		}
	})
	answers := bufio.NewReader(theirs)
	send = func(text string) {
		t.Helper()
		if _, err := io.WriteString(ours, text); err != nil {
			t.Fatalf("the server no longer reads: %v", err)
		}
	}
	next = func() (a answer) {
		t.Helper()
		line, err := answers.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the server no longer answers: %v", err)
		}
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("the server writes %q: %v", line, err)
		}
		return a
	}
	return send, next
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// Whatever a line is, it is answered and the next one is read.
func TestALineThatIsNoMessageIsAnsweredAndEndsNothing(t *testing.T) {
	send, next := speak(t)
	send(hello + "\n")
	if a := next(); a.Result == nil {
		t.Fatalf("initialize is answered with %+v", a)
	}
	for i, tt := range []struct {
		line string
		code int
		id   any
	}{
		{"npm WARN deprecated\n", -32700, nil},
		{`{"jsonrpc":"2.0","id":9,"method":"ping"` + "\n", -32700, nil},
		{`{"jsonrpc":"2.0","id":9,"method":"ping"} and more` + "\n", -32700, nil},
		{"\xff\xfe\x00\n", -32700, nil},
		{strings.Repeat("[", 20_000) + "\n", -32700, nil},
		{"42\n", -32600, nil},
		{"null\n", -32600, nil},
		{"{}\n", -32600, nil},
		{"[]\n", -32600, nil},
		{"[42]\n", -32600, nil},
		{`{"jsonrpc":"1.0","id":9,"method":"ping"}` + "\n", -32600, 9.0},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n", -32600, nil},
		{`{"jsonrpc":"2.0","id":"x","method":42}` + "\n", -32600, "x"},
		{`{"jsonrpc":"2.0","id":"x","method":"ping","params":{"x":"` + strings.Repeat("x", 2<<20) + `"}}` + "\n", -32600, nil},
		{`{"jsonrpc":"2.0","id":9,"method":"nowhere"}` + "\n", -32601, 9.0},
	} {
		t.Run(fmt.Sprintf("%d %.30q", i, tt.line), func(t *testing.T) {
			send(tt.line)
			if a := next(); a.Error.Code != tt.code || a.ID != tt.id || a.Error.Message == "" || strings.Contains(a.Error.Message, "unmarshal") {
				t.Errorf("%.80q is answered with %+v, want the code %d and the ID %v", tt.line, a, tt.code, tt.id)
			}
			send("\r\n\n" + `  {"jsonrpc":"2.0","id":100,"method":"ping"}  ` + "\r\n")
			if a := next(); a.ID != 100.0 || a.Error.Code != 0 {
				t.Errorf("ping after %.80q is answered with %+v", tt.line, a)
			}
		})
	}
}

func TestEveryMessageOfABatchIsAnswered(t *testing.T) {
	send, next := speak(t)
	send(hello + "\n")
	next()
	send(`[{"jsonrpc":"2.0","id":7,"method":"ping"},{},{"jsonrpc":"2.0","id":8,"method":"ping"}]` + "\n")
	got := map[any]int{}
	for range 3 {
		a := next()
		got[a.ID] = a.Error.Code
	}
	if len(got) != 3 || got[7.0] != 0 || got[8.0] != 0 || got[nil] != -32600 {
		t.Errorf("a batch of two requests and one that is none is answered with %v", got)
	}
}

// A client dies in the middle of a message, and comes back.
func TestAMessageCutAnywhereEndsNothing(t *testing.T) {
	send, next := speak(t)
	send(hello + "\n")
	next()
	for n := 1; n < len(hello); n++ {
		send(hello[:n] + "\n")
		if a := next(); a.Error.Code != -32700 {
			t.Fatalf("%q is answered with %+v, want a parse error", hello[:n], a)
		}
	}
	send(`{"jsonrpc":"2.0","id":100,"method":"ping"}` + "\n")
	if a := next(); a.ID != 100.0 {
		t.Errorf("ping is answered with %+v", a)
	}
}
