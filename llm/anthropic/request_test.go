package anthropic_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/llmtest"
)

// ask sends r to model with that effort and returns the request that the server
// received, and the answer.
func ask(t *testing.T, s *llmtest.Server, o llm.Options, r llm.Request) (llmtest.Request, skein.Message) {
	t.Helper()
	o.Key, o.BaseURL = llmtest.Key, s.URL
	p, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := llmtest.Collect(t, p.Stream(t.Context(), r))
	if err != nil {
		t.Fatal(err)
	}
	all := s.Requests()
	return all[len(all)-1], *m
}

func says(text string) llm.Request {
	return llm.Request{Messages: []skein.Message{skein.UserSays(text)}}
}

func TestCache_IsAskedForUpToTheSystemPromptAndTheLastMessage(t *testing.T) {
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("Yes."))
	tools := []llm.ToolSpec{{Name: "look", Schema: json.RawMessage(`{"type":"object"}`)}}
	for _, tt := range []struct {
		name   string
		system string
		tools  []llm.ToolSpec
		want   int
	}{
		{"nothing above", "", nil, 1},
		{"a system prompt", "Be brief.", nil, 2},
		{"tools", "", tools, 2},
		{"both", "Be brief.", tools, 2},
	} {
		r := says("hello")
		r.System, r.Tools = tt.system, tt.tools
		got, _ := ask(t, s, llm.Options{Model: "claude-sonnet-4-5"}, r)
		if got.Marks != tt.want {
			t.Errorf("%s: %d places are marked, want %d: %s", tt.name, got.Marks, tt.want, got.Body)
		}
		if tt.system != "" && !strings.Contains(string(got.Body), `"text":"Be brief.","cache_control":`) && !strings.Contains(string(got.Body), `"cache_control":{"type":"ephemeral"},"type":"text"`) {
			t.Errorf("%s: the system prompt is not marked: %s", tt.name, got.Body)
		}
	}
}

func TestUsage_TellsWhatWasPutIntoTheCache(t *testing.T) {
	reply := llmtest.Says("Yes.")
	reply.Usage = skein.Usage{Input: 3, CacheRead: 4000, CacheWrite: 500, Output: 60, Reasoning: 40}
	_, m := ask(t, llmtest.Anthropic(t, reply), llm.Options{Model: "claude-sonnet-4-5"}, says("hello"))
	want := reply.Usage
	want.Requests = 1
	if *m.Usage != want {
		t.Errorf("usage = %+v, want %+v", *m.Usage, want)
	}
}

func TestThinking_IsAskedForAsTheModelKnowsIt(t *testing.T) {
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("Yes."))
	for _, tt := range []struct {
		model  string
		effort llm.Effort
		want   string // in the body
	}{
		{"claude-sonnet-4-5", llm.Low, `"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"claude-haiku-4-5-20251001", llm.High, `"thinking":{"type":"enabled","budget_tokens":16384}`},
		{"claude-opus-4-20250514", llm.Medium, `"thinking":{"type":"enabled","budget_tokens":8192}`},
		{"claude-3-7-sonnet-latest", llm.Medium, `"thinking":{"type":"enabled","budget_tokens":8192}`},
		{"glm-4.6", llm.Low, `"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"claude-opus-4-6", llm.High, `"thinking":{"type":"adaptive","display":"summarized"}`},
		{"claude-sonnet-5-5", llm.Low, `"output_config":{"effort":"low"}`},
		{"claude-opus-5", "", `"stream":true`},
	} {
		got, _ := ask(t, s, llm.Options{Model: tt.model, Effort: tt.effort}, says("hello"))
		if !strings.Contains(string(got.Body), tt.want) || tt.effort == "" && strings.Contains(string(got.Body), "thinking") {
			t.Errorf("%s with effort %q: request %s, want %s in it", tt.model, tt.effort, got.Body, tt.want)
		}
	}
}

func TestThinking_DoesNotBeginAmongTools(t *testing.T) {
	r := says("hello")
	r.Messages = append(r.Messages,
		skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "a", Name: "look", Input: json.RawMessage(`{}`)}}}},
		skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "a", Text: "seen"}}}})
	got, _ := ask(t, llmtest.Anthropic(t, llmtest.Says("Yes.")), llm.Options{Model: "claude-sonnet-4-5", Effort: llm.High}, r)
	if got.Effort != "" {
		t.Errorf("request %s asks for thoughts, want none before the round has ended", got.Body)
	}
}

func TestThinking_HiddenThoughtsGoBack(t *testing.T) {
	call := llmtest.Calls(skein.Call{ID: "a", Name: "look", Input: json.RawMessage(`{}`)})
	s := llmtest.Anthropic(t, llmtest.Thinks("", call), llmtest.Says("Yes."))
	o := llm.Options{Model: "claude-opus-5", Effort: llm.High}
	_, m := ask(t, s, o, says("hello"))
	r := says("hello")
	r.Messages = append(r.Messages, m, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "a", Failed: true}}}})
	got, _ := ask(t, s, o, r)
	if p := got.Messages[1].Parts[0]; p.Kind != skein.PartReasoning || len(p.Raw) == 0 {
		t.Errorf("the answer went back as %+v, want the hidden thought first", got.Messages[1].Parts)
	}
	if res := got.Messages[2].Parts[0].Result; !res.Failed {
		t.Errorf("the result went back as %+v, want one that failed", res)
	}
}

func TestMaxTokens_IsWhatTheModelCanWrite(t *testing.T) {
	s := llmtest.Anthropic(t)
	s.Otherwise(llmtest.Says("Yes."))
	for model, want := range map[string]int{
		"claude-3-haiku-20240307": 4096, "claude-3-5-sonnet-latest": 8192, "claude-3-7-sonnet-latest": 32_000, "claude-opus-4-1": 32_000, "claude-sonnet-5-5": 32_000,
	} {
		if got, _ := ask(t, s, llm.Options{Model: model}, says("hello")); got.MaxTokens != want {
			t.Errorf("%s may write %d tokens, want %d", model, got.MaxTokens, want)
		}
	}
}

func TestFiles_GoAsTheirTypeWants(t *testing.T) {
	for _, tt := range []struct {
		file skein.File
		want string
	}{
		{skein.File{Media: "application/pdf", URL: "https://example.com/a.pdf"}, `"source":{"type":"url","url":"https://example.com/a.pdf"}`},
		{skein.File{Media: "image/png", URL: "https://example.com/a.png"}, `"type":"image"`},
		{skein.File{Media: "text/plain", Blob: skein.NewBlob([]byte("plain text")).Hash}, `"data":"plain text"`},
		{skein.File{Media: "application/pdf", Blob: skein.NewBlob([]byte("plain text")).Hash}, `"media_type":"application/pdf"`},
	} {
		r := says("hello")
		r.Messages[0].Parts = append(r.Messages[0].Parts, skein.Part{Kind: skein.PartFile, File: &tt.file})
		r.Blob = func(context.Context, skein.Hash) ([]byte, error) { return []byte("plain text"), nil }
		got, _ := ask(t, llmtest.Anthropic(t, llmtest.Says("Yes.")), llm.Options{Model: "claude-sonnet-4-5"}, r)
		if !strings.Contains(string(got.Body), tt.want) {
			t.Errorf("file %+v: request %s, want %s in it", tt.file, got.Body, tt.want)
		}
	}
}

// Caching for an hour costs more.
func TestWhatIsCachedForAnHourIsTold(t *testing.T) {
	s := llmtest.Anthropic(t)
	reply := llmtest.Says("Counted.")
	reply.Usage = skein.Usage{Input: 10, CacheWrite: 300, CacheHour: 200, Output: 5}
	s.Otherwise(reply)
	want := reply.Usage
	want.Requests = 1
	if _, m := ask(t, s, llm.Options{Model: "claude-sonnet-4-5"}, says("hello")); *m.Usage != want {
		t.Errorf("Stream() counts %+v, want %+v", *m.Usage, want)
	}
}
