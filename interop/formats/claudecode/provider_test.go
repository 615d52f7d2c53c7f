//go:build programs

package claudecode

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A provider answers Claude Code in place of Anthropic, always the same, and keeps
// its requests.
type provider struct {
	*httptest.Server
	mu    sync.Mutex
	asked []heardRequest
}

type heardRequest struct {
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
}

// A saidBlock is a block of a request.
type saidBlock struct {
	Type, Text, Name string
	Result           string `json:"tool_use_id"`
	Input            json.RawMessage
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req heardRequest
	if r.URL.Path != "/v1/messages" || err != nil || json.Unmarshal(body, &req) != nil {
		http.Error(w, `{"type":"error","error":{"type":"not_found_error","message":"none"}}`, http.StatusNotFound)
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, req)
	n := len(p.asked)
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{
		fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}`, n),
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Gladly."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
		`{"type":"message_stop"}`,
	} {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(e), &kind)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind.Type, e)
	}
}

// heard returns the blocks of the request that ends with prompt, one per line,
// without the program's own reminders. dir is called DIR.
func (p *provider) heard(t *testing.T, prompt, dir string) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var longest heardRequest // others ask for a title
	for _, r := range p.asked {
		if strings.Contains(fmt.Sprintf("%s", r), prompt) && len(r.Messages) > len(longest.Messages) {
			longest = r
		}
	}
	var all strings.Builder
	for _, m := range longest.Messages {
		var blocks []saidBlock
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			blocks = []saidBlock{{Type: "text", Text: text}}
		} else if err := json.Unmarshal(m.Content, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if m.Role == "system" || strings.HasPrefix(b.Text, "<system-reminder>") {
				continue
			}
			line := strings.Join(strings.Fields(b.Text), " ")
			switch b.Type {
			case "tool_use":
				line = b.Name + " " + strings.ReplaceAll(string(b.Input), dir, "DIR")
			case "tool_result":
				line = "result of " + b.Result
			case "image":
				line = "image"
			}
			fmt.Fprintf(&all, "%s: %s\n", m.Role, line)
		}
	}
	return all.String()
}
