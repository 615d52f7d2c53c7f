package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/llm/openai"
)

// named returns a suite for a server of that name, for streams passed to it.
func named(name string) llmtest.Suite {
	return llmtest.Suite{Model: "qwen3", Open: func(o llm.Options) (llm.Provider, error) { return openai.NewChat(name, o) }}
}

// feed returns the message that a Chat makes of chunks.
func feed(t *testing.T, chunks ...string) *skein.Message {
	t.Helper()
	m, err := llmtest.Feed(t, named("ollama"), []byte("data: "+strings.Join(chunks, "\n\ndata: ")+"\n\n"))
	if err != nil {
		t.Fatalf("Stream(%q) = %v", chunks, err)
	}
	return m
}

func calls(m *skein.Message) (all []string) {
	for _, p := range m.Parts {
		if p.Call != nil {
			all = append(all, p.Call.Name+string(p.Call.Input))
		}
	}
	return all
}

func TestChat_TakesCallsAsServersGiveThem(t *testing.T) {
	end := `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	for _, tt := range []struct {
		name   string
		chunks []string
	}{
		{"whole, all with the index 0", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{\"n\":1}"}}]}}]}`,
		}},
		{"both in one chunk", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"y","arguments":"{\"n\":1}"}}]}}]}`,
		}},
		{"without an ID", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"y","arguments":"{\"n\":1}"}}]}}]}`,
		}},
		{"the ID each time, the name late", []string{
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"y","arguments":"{\"n\":1}"}}]}}]}`,
		}},
	} {
		m := feed(t, append(tt.chunks, end)...)
		if got := calls(m); strings.Join(got, " ") != `x{} y{"n":1}` {
			t.Errorf("%s: calls %q, want x{} and y{\"n\":1}", tt.name, got)
		}
		ids := map[string]bool{}
		for _, p := range m.Parts {
			ids[p.Call.ID] = true
		}
		if len(ids) != 2 || ids[""] {
			t.Errorf("%s: IDs %v, want two", tt.name, ids)
		}
	}
}

func TestChat_TakesReasoningByEitherName(t *testing.T) {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		m := feed(t,
			`{"choices":[{"delta":{"role":"assistant","content":null,"`+name+`":"Hm, <so>"}}]}`,
			`{"choices":[{"delta":{"`+name+`":"."}}]}`,
			`{"choices":[{"delta":{"content":"Yes."}}]}`,
			`{"choices":[{"delta":{"content":""},"finish_reason":"stop"}],"usage":null}`,
		)
		if len(m.Parts) != 2 || m.Parts[0].Kind != skein.PartReasoning || m.Parts[0].Text != "Hm, <so>." || m.Words() != "Yes." || m.Usage != nil {
			t.Errorf("%s: message %+v, want a thought and Yes.", name, m)
		}
	}
}

func TestChat_TakesUsageWhereverItComes(t *testing.T) {
	m := feed(t,
		`{"choices":[{"delta":{"content":"Yes."}}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":5,"cache_write_tokens":1}}}`,
	)
	if want := (skein.Usage{Input: 3, CacheRead: 5, CacheWrite: 1, Output: 4, Requests: 1}); *m.Usage != want {
		t.Errorf("usage = %+v, want %+v", *m.Usage, want)
	}
}

func TestChat_ShowsARefusal(t *testing.T) {
	m := feed(t, `{"choices":[{"delta":{"refusal":"I will not."}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	if m.Words() != "I will not." {
		t.Errorf("message %+v, want the refusal as text", m)
	}
}

func TestChat_SaysTheLimitAsTheServerKnowsIt(t *testing.T) {
	for name, want := range map[string]string{"openai": `"max_completion_tokens":7`, "ollama": `"max_tokens":7`} {
		s := llmtest.Chat(t, llmtest.Says("Yes."))
		p, err := openai.NewChat(name, llm.Options{Key: llmtest.Key, BaseURL: s.URL, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llmtest.Collect(t, p.Stream(t.Context(), llm.Request{MaxTokens: 7, Messages: []skein.Message{skein.UserSays("hello")}})); err != nil {
			t.Fatal(err)
		}
		if body := string(s.Requests()[0].Body); !strings.Contains(body, want) {
			t.Errorf("%s: request %s, want %s in it", name, body, want)
		}
		if about := p.About(); about.Provider != name || about.Rules.Provider != name {
			t.Errorf("About() = %+v, want the name %q", about, name)
		}
	}
}

func TestChat_SendsNoKeyWhereThereIsNone(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_ORG_ID", "org-of-the-environment")
	s := llmtest.Chat(t)
	p, err := openai.NewChat("ollama", llm.Options{BaseURL: s.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = llmtest.Collect(t, p.Stream(t.Context(), llm.Request{Messages: []skein.Message{skein.UserSays("hello")}}))
	h := s.Requests()[0].Header
	if !errors.Is(err, llm.ErrDenied) || h.Get("Authorization") != "" || h.Get("Openai-Organization") != "" {
		t.Errorf("Stream() without a key = %v, headers %v, want none of the environment's", err, h)
	}
}

func TestResponses_BringsPiecesOfAThoughtApart(t *testing.T) {
	events := []string{
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"First."}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"Second."}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"zz<"}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"web_search_call","id":"ws_1"}}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"web_search_call","id":"ws_1"}}`,
		`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","call_id":"c","name":"x","arguments":""}}`,
		`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c","name":"x","arguments":"{\"n\":1}"}}`,
		`{"type":"response.completed","response":{"status":"completed","model":"gpt-5"}}`,
	}
	m, err := llmtest.Feed(t, suite(), []byte("data: "+strings.Join(events, "\n\ndata: ")+"\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	raw := `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"zz<"}`
	if m.Parts[0].Text != "First.\n\nSecond." || string(m.Parts[0].Raw) != raw || strings.Join(calls(m), " ") != `x{"n":1}` {
		t.Errorf("message %+v, want a thought of two pieces with %s, and a call", m, raw)
	}
}

func TestResponses_TakesATextThatComesWhole(t *testing.T) {
	events := []string{
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","content":[]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"It is"},{"type":"refusal","refusal":"so."}]}}`,
		`{"type":"response.completed","response":{"status":"completed","model":"gpt-5"}}`,
	}
	m, err := llmtest.Feed(t, suite(), []byte("data: "+strings.Join(events, "\n\ndata: ")+"\n\n"))
	if err != nil || m.Words() != "It is\n\nso." {
		t.Errorf("Stream(no deltas) = %+v, %v, want the text of the item", m, err)
	}
}

func TestResponses_AFailureIsAnError(t *testing.T) {
	for body, want := range map[string]error{
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"It broke."}}}`:        llm.ErrBusy,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"It broke."}}}`: llm.ErrBusy,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"invalid_prompt","message":"It broke."}}}`:      llm.ErrRequest,
		`{"type":"error","code":"context_length_exceeded","message":"It broke."}`:                                                llm.ErrTooLong,
		`{"error":{"type":"server_error","message":"It broke."}}`:                                                                llm.ErrBusy,
	} {
		m, err := llmtest.Feed(t, suite(), []byte("data: "+body+"\n\n"))
		if !errors.Is(err, want) || m != nil || !strings.Contains(err.Error(), "It broke.") {
			t.Errorf("Stream(%s) = %+v, %v, want %v", body, m, err, want)
		}
	}
}

func TestResponses_AsksNoPlainModelForReasoning(t *testing.T) {
	for _, model := range []string{"gpt-4.1", "gpt-4o-mini"} {
		s := llmtest.OpenAI(t, llmtest.Says("Yes."))
		p, err := openai.New(llm.Options{Key: llmtest.Key, BaseURL: s.URL, Model: model, Effort: llm.High})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llmtest.Collect(t, p.Stream(t.Context(), llm.Request{Messages: []skein.Message{skein.UserSays("hello")}})); err != nil {
			t.Errorf("Stream() to %s = %v", model, err)
		}
	}
}

func TestResponses_DocumentsGoWithTheirName(t *testing.T) {
	s := llmtest.OpenAI(t, llmtest.Says("Yes."))
	p, err := openai.New(llm.Options{Key: llmtest.Key, BaseURL: s.URL, Model: "gpt-5"})
	if err != nil {
		t.Fatal(err)
	}
	blob := skein.NewBlob([]byte("%PDF-1.7"))
	r := llm.Request{Blob: func(context.Context, skein.Hash) ([]byte, error) { return blob.Data, nil }}
	for _, f := range []skein.File{
		{Name: `C:\docs\a.pdf`, Media: "application/pdf", Blob: blob.Hash}, {Media: "application/pdf", Blob: blob.Hash}, {Media: "application/pdf", URL: "https://example.com/b.pdf"},
	} {
		r.Messages = append(r.Messages, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &f}}})
	}
	if _, err := llmtest.Collect(t, p.Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	body := string(s.Requests()[0].Body)
	for _, want := range []string{`"filename":"a.pdf"`, `"filename":"file"`, `"file_url":"https://example.com/b.pdf"`} {
		if !strings.Contains(body, want) {
			t.Errorf("request %s, want %s in it", body, want)
		}
	}
}

func TestResponses_CallsGoBackAsTheyWere(t *testing.T) {
	input := json.RawMessage(`{"b":1,"a":"<x>"}`)
	s := llmtest.OpenAI(t, llmtest.Says("Yes."))
	p, err := openai.New(llm.Options{Key: llmtest.Key, BaseURL: s.URL, Model: "gpt-5", Client: http.DefaultClient})
	if err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Messages: []skein.Message{
		skein.UserSays("hello"),
		{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("Let me see."), {Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "x", Input: input}}}},
		{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Failed: true}}}},
	}}
	if _, err := llmtest.Collect(t, p.Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0].Messages
	if c := got[1].Parts[1].Call; string(c.Input) != string(input) || got[2].Parts[0].Result.Text != "[The tool failed.]" {
		t.Errorf("the conversation went back as %+v, want the call's input as it was, and that it failed", got)
	}
}
