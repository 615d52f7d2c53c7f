package llmtest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/skein-dev/skein/llm/llmtest"
)

// post sends body to the server as its provider's client would.
func post(t *testing.T, s *llmtest.Server, path, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", llmtest.Key)
	req.Header.Set("Authorization", "Bearer "+llmtest.Key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// A refused is a request that a provider rejects.
type refused struct{ name, body, why string }

func refuses(t *testing.T, s *llmtest.Server, path, good string, all []refused) {
	t.Helper()
	s.Otherwise(llmtest.Says("Yes."))
	if res, body := post(t, s, path, good); res.StatusCode != http.StatusOK {
		t.Fatalf("a good request is turned down: %s %s", res.Status, body)
	}
	for _, tt := range all {
		if tt.body == good {
			t.Fatalf("%s: the request is the good one", tt.name)
		}
		res, body := post(t, s, path, tt.body)
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(body, tt.why) {
			t.Errorf("%s: %s %s, want 400 and %q", tt.name, res.Status, body, tt.why)
		}
	}
	last := s.Requests()[len(s.Requests())-1]
	if len(s.Requests()) != len(all)+1 || last.Refused == "" {
		t.Errorf("%d requests are kept, the last refused for %q, want %d", len(s.Requests()), last.Refused, len(all)+1)
	}
}

func TestAnthropic_RefusesWhatTheRealOneDoes(t *testing.T) {
	with := func(messages string) string {
		return `{"model":"m","max_tokens":9,"stream":true,"messages":[` + messages + `]}`
	}
	user, says := `{"role":"user","content":[{"type":"text","text":"hello"}]}`, func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	call, result := `{"type":"tool_use","id":"a","name":"x","input":{}}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`
	thought := `{"type":"thinking","thinking":"Hm.","signature":"forged"}`
	refuses(t, llmtest.Anthropic(t), "/v1/messages", with(user+","+says(call)+","+result), []refused{
		{"no limit", `{"model":"m","stream":true,"messages":[` + user + `]}`, "max_tokens: Field required"},
		{"a field that nobody knows", `{"model":"m","max_tokens":9,"stream":true,"mood":1,"messages":[` + user + `]}`, "mood: Extra inputs are not permitted"},
		{"nothing said", with(""), "at least one message is required"},
		{"the assistant first", with(says(`{"type":"text","text":"hi"}`)), `first message must use the \"user\" role`},
		{"the user twice", with(user + "," + user), "roles must alternate"},
		{"a role of its own", with(user + `,{"role":"tool","content":[{"type":"text","text":"x"}]}`), "Input should be 'user' or 'assistant'"},
		{"a blank text", with(`{"role":"user","content":[{"type":"text","text":" \n"}]}`), "non-whitespace"},
		{"no content", with(`{"role":"user","content":[]}`), "non-empty content"},
		{"a call without a result", with(user + "," + says(call) + "," + user), "`tool_use` ids were found without `tool_result` blocks immediately after: a"},
		{"a call at the end", with(user + "," + says(call)), "without `tool_result`"},
		{"a result without a call", with(result), "unexpected `tool_use_id`"},
		{"a call ID twice", with(user + "," + says(call) + "," + result + "," + says(call) + "," + result), "must be unique"},
		{"an input that is no object", with(user + "," + says(strings.Replace(call, "{}", `"x"`, 1)) + "," + result), "valid dictionary"},
		{"a forged signature", with(user + "," + says(thought+","+call) + "," + result), "Invalid `signature`"},
		{"a space at the end", with(user + "," + says(`{"type":"text","text":"hi "}`)), "trailing whitespace"},
	})
}

func TestChat_RefusesWhatTheRealOneDoes(t *testing.T) {
	with := func(messages string) string {
		return `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[` + messages + `]}`
	}
	user, call := `{"role":"user","content":"hello"}`, `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]}`
	result := `{"role":"tool","tool_call_id":"a","content":""}`
	refuses(t, llmtest.Chat(t), "/chat/completions", with(user+","+call+","+result), []refused{
		{"a field that nobody knows", `{"model":"m","mood":1}`, "Unrecognized request argument supplied: mood"},
		{"nothing said", with(""), "empty array"},
		{"no content", with(`{"role":"user"}`), "expected a string, got null"},
		{"a call without a result", with(user + "," + call + "," + user), "did not have response messages: a"},
		{"a call at the end", with(user + "," + call), "did not have response messages: a"},
		{"a result without a call", with(user + "," + result), "must be a response to a preceding message"},
		{"a result too many", with(user + "," + call + "," + result + "," + result), "must be a response to a preceding message"},
		{"a long ID", with(user + "," + strings.Replace(call, `"a"`, `"`+strings.Repeat("a", 41)+`"`, 1)), "maximum length 40"},
		{"Google's signature", with(user + "," + strings.Replace(call, `"type"`, `"extra_content":{},"type"`, 1) + "," + result), "extra_content"},
		{"a role of its own", with(`{"role":"robot","content":"x"}`), "Invalid value: 'robot'"},
	})
}

func TestOpenAI_RefusesWhatTheRealOneDoes(t *testing.T) {
	with := func(items string) string {
		return `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[` + items + `]}`
	}
	user, call := `{"role":"user","content":"hello"}`, `{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}`
	result, thought := `{"type":"function_call_output","call_id":"a","output":"x"}`, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"forged"}`
	refuses(t, llmtest.OpenAI(t), "/responses", with(user+","+call+","+result), []refused{
		{"a field that nobody knows", `{"model":"m","mood":1}`, "Unknown parameter: 'mood'"},
		{"a field that no item has", with(strings.Replace(user, "{", `{"mood":1,`, 1)), "Unknown parameter: 'input[0].mood'"},
		{"nothing said", with(""), "One of 'input'"},
		{"a call without a result", with(user + "," + call), "No tool output found for function call a."},
		{"a result without a call", with(user + "," + result), "No tool call found for function call output with call_id a."},
		{"a forged thought", with(user + "," + thought + "," + call + "," + result), "could not be verified"},
		{"an answer in the user's type", with(`{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "Invalid value: 'input_text'"},
		{"a small limit", strings.Replace(with(user), "{", `{"max_output_tokens":9,`, 1), "integer below minimum value"},
	})
}

func TestGoogle_RefusesWhatTheRealOneDoes(t *testing.T) {
	with := func(messages string) string {
		return `{"model":"gemini-3-pro","stream":true,"stream_options":{"include_usage":true},"messages":[` + messages + `]}`
	}
	user, result := `{"role":"user","content":"hello"}`, `{"role":"tool","tool_call_id":"a","content":""}`
	call := func(signature string) string {
		return `{"role":"assistant","tool_calls":[{"id":"a","type":"function",` + signature + `"function":{"name":"x","arguments":"{}"}}]}`
	}
	skip, forged := `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}},`, `"extra_content":{"google":{"thought_signature":"forged"}},`
	refuses(t, llmtest.Google(t), "/chat/completions", with(user+","+call(skip)+","+result), []refused{
		{"a call without a signature", with(user + "," + call("") + "," + result), "missing a thought_signature"},
		{"a forged signature", with(user + "," + call(forged) + "," + result), "Corrupted thought signature"},
		{"a call first", with(call(skip) + "," + result), "immediately after a user turn"},
		{"both ways to think", strings.Replace(with(user), "{", `{"reasoning_effort":"low","extra_body":{"google":{"thinking_config":{"thinking_level":"low"}}},`, 1), "Cannot specify both"},
	})
}

func TestServer_GivesItsRepliesInOrder(t *testing.T) {
	s := llmtest.Chat(t, llmtest.Says("one"), llmtest.Fails(503, "two"))
	s.Reply(llmtest.Says("three"))
	good := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
	for i, want := range []string{`"content":"one"`, `"message":"two"`, `"content":"three"`} {
		if _, body := post(t, s, "/chat/completions", good); !strings.Contains(body, want) {
			t.Errorf("answer %d is %s, want %s in it", i, body, want)
		}
	}
	if got := s.Requests(); len(got) != 3 || !bytes.Equal(got[2].Body, []byte(good)) || got[2].Messages[0].Words() != "hello" {
		t.Errorf("Requests() = %+v, want three", got)
	}
	s.When(llmtest.Says("four"), "farewell", "user")
	s.Reply(llmtest.Says("five"))
	for i, want := range []string{`"content":"five"`, `"content":"four"`} {
		if _, body := post(t, s, "/chat/completions", []string{good, strings.Replace(good, "hello", "farewell", 1)}[i]); !strings.Contains(body, want) {
			t.Errorf("the answer is %s, want %s in it", body, want)
		}
	}
	if res, body := post(t, s, "/elsewhere", good); res.StatusCode != http.StatusNotFound {
		t.Errorf("another path = %s %s, want 404", res.Status, body)
	}
}
