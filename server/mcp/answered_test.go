package mcp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/server/mcp"
)

type keep struct{ bytes.Buffer }

func (*keep) Close() error { return nil }

// A script writes its requests and closes the pipe at once.
func TestWhatWasAskedBeforeTheEndIsAnswered(t *testing.T) {
	const (
		list   = `{"jsonrpc":"2.0","id":"a","method":"tools/list"}`
		search = `{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"session_search","arguments":{"query":"x"}}}`
		note   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}`
		listen = `{"jsonrpc":"2.0","id":"c","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`
	)
	for name, tt := range map[string]struct {
		in  []string
		ids string
	}{
		"nothing":                        {nil, ""},
		"only notifications":             {[]string{note, cancel}, ""},
		"a hello and a list":             {[]string{hello, note, list}, "1 a"},
		"a call":                         {[]string{hello, note, search, list}, "1 a b"},
		"a call that may be cancelled":   {[]string{hello, note, search, cancel, list}, "1 a"},
		"an unknown method":              {[]string{hello, strings.Replace(list, "tools/list", "nowhere", 1)}, "1 a"},
		"a request for what never comes": {[]string{hello, note, listen}, "1 c"},
		"no message":                     {[]string{hello, "x", list}, "1 <nil> a"},
		"a request that is cut off":      {[]string{hello, list, list[:20]}, "1 <nil> a"},
	} {
		t.Run(name, func(t *testing.T) {
			var out keep
			o := mcp.Options{Version: "test", Now: time.Now, Store: store(t)}
			if err := mcp.Serve(t.Context(), o, io.NopCloser(strings.NewReader(strings.Join(tt.in, "\n"))), &out); err != nil {
				t.Errorf("Serve = %v, want nil", err)
			}
			got := idsOf(t, &out.Buffer)
			if slices.Contains(tt.in, cancel) { // it may come before the answer or after it
				got = strings.TrimSuffix(got, " b")
			}
			if got != tt.ids {
				t.Errorf("answered are the requests %s, want %s", got, tt.ids)
			}
		})
	}
}

// Reusing an ID while the first request is being answered is the client's
// mistake; whatever the answers are, the server ends.
func TestRequestsWithOneIDEndNothing(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}` + "\n"
	var out keep
	o := mcp.Options{Version: "test", Now: time.Now, Store: store(t)}
	if err := mcp.Serve(t.Context(), o, io.NopCloser(strings.NewReader(hello+"\n"+strings.Repeat(ping, 50))), &out); err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
}

// deaf is a client that no longer reads.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
func (deaf) Close() error              { return nil }

func TestAClientThatReadsNoAnswersHoldsNothingUp(t *testing.T) {
	o := mcp.Options{Version: "test", Now: time.Now, Store: store(t)}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	_ = mcp.Serve(t.Context(), o, io.NopCloser(strings.NewReader(hello+"\n"+list+"\n")), deaf{}) // it ends, as promised
}

// idsOf returns the IDs of the answers, sorted.
func idsOf(t *testing.T, out *bytes.Buffer) string {
	t.Helper()
	var ids []string
	for d := json.NewDecoder(out); ; {
		var a answer
		err := d.Decode(&a)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the server writes no JSON: %v", err)
		}
		if a.Result != nil || a.Error.Code != 0 { // not a notification
			ids = append(ids, fmt.Sprint(a.ID))
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}
