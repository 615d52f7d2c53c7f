package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/llmtest"
)

// TestALongTurnRunsToItsEnd lets each provider's model read thirty notes, one after
// the other, each of which names the next.
func TestALongTurnRunsToItsEnd(t *testing.T) {
	const notes = 30
	for _, c := range []struct {
		model, key, base string
		serve            func(testing.TB, ...llmtest.Reply) *llmtest.Server
	}{
		{"anthropic:claude-x", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", llmtest.Anthropic},
		{"openai:gpt-x", "OPENAI_API_KEY", "OPENAI_BASE_URL", llmtest.OpenAI},
		{"google:gemini-x", "GEMINI_API_KEY", "GOOGLE_OPENAI_BASE_URL", llmtest.Google},
		{"vllm:m", "VLLM_API_KEY", "VLLM_BASE_URL", llmtest.Chat},
	} {
		for _, after := range []string{"", "400"} {
			t.Run(c.model+" compact_after="+after, func(t *testing.T) {
				var replies []llmtest.Reply
				for n := range notes {
					input := json.RawMessage(fmt.Sprintf(`{"path":"note%d.txt"}`, n))
					replies = append(replies, llmtest.Calls(skein.Call{ID: fmt.Sprint("call_", n), Name: "read_file", Input: input}))
				}
				s := c.serve(t, append(replies, llmtest.Says("That was the last one."))...)
				p := newTypist(t, map[string]string{c.key: llmtest.Key, c.base: s.URL})
				settings := ""
				if after != "" {
					settings = "compact_after = " + after + "\n"
				}
				p.has("config.toml", settings)
				for n := range notes {
					text := fmt.Sprintf("this is note %d; go on with note%d.txt\n", n, n+1)
					p.has(fmt.Sprintf("note%d.txt", n), text)
				}
				out, errs, code := p.typed(t.Context(), "run", "--model", c.model, "read the notes from note0.txt on")
				if code != 0 || out != "That was the last one.\n" {
					t.Fatalf("run = %q, exit code %d\n%s", out, code, errs)
				}
				sent := s.Requests()
				last := string(sent[len(sent)-1].Body)
				if n := strings.Count(last, "this is note"); len(sent) != notes+1 || n != notes || !strings.Contains(last, "read the notes from") {
					t.Errorf("there were %d requests, and the last has %d notes, want %d and %d, and the task:\n%s", len(sent), n, notes+1, notes, last)
				}
			})
		}
	}
}

// has writes a file into the home folder.
func (p *typist) has(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}
