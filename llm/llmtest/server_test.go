package llmtest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
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
	req.Header.Set("X-Goog-Api-Key", llmtest.Key)
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

func TestOpenAI_CallsAToolOfANamespace(t *testing.T) {
	s := llmtest.OpenAI(t, llmtest.Calls(skein.Call{ID: "a", Name: "agents.spawn", Input: []byte(`{}`)}))
	good := `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"hello"}]}`
	if _, body := post(t, s, "/responses", good); !strings.Contains(body, `"name":"spawn","namespace":"agents"`) {
		t.Errorf("a call of agents.spawn is sent as\n%s", body)
	}
}

func TestGemini_RefusesWhatTheRealOneDoes(t *testing.T) {
	with := func(contents string) string { return `{"contents":[` + contents + `]}` }
	user, model := `{"role":"user","parts":[{"text":"hello"}]}`, `{"role":"model","parts":[{"text":"hi"}]}`
	call := `{"role":"model","parts":[{"functionCall":{"id":"a","name":"x","args":{}}}]}`
	result := `{"role":"user","parts":[{"functionResponse":{"id":"a","name":"x","response":{"output":"x"}}}]}`
	refuses(t, llmtest.Gemini(t), "/models/gemini-3-pro:streamGenerateContent?alt=sse", with(user+","+call+","+result), []refused{
		{"a field that nobody knows", `{"mood":1}`, `Unknown name \"mood\"`},
		{"nothing said", with(""), "contents is not specified"},
		{"a role of its own", with(strings.Replace(user, `"user"`, `"tool"`, 1)), "valid role: user, model"},
		{"no parts", with(`{"role":"user","parts":[]}`), "must not be empty"},
		{"a part without data", with(`{"role":"user","parts":[{}]}`), "required oneof field 'data'"},
		{"a call without a result", with(user + "," + call + "," + user), "number of function response parts"},
		{"a result without a call", with(user + "," + result), "number of function response parts"},
		{"a call after the model", with(user + "," + model + "," + call + "," + result), "immediately after a user turn"},
		{"a forged signature", with(user + "," + strings.Replace(call, `{"functionCall"`, `{"thoughtSignature":"forged","functionCall"`, 1) + "," + result), "Corrupted thought signature"},
		{"a result that is no object", with(user + "," + call + "," + strings.Replace(result, `{"output":"x"}`, `"x"`, 1)), "function_response.response"},
	})
}

func TestGemini_AnswersAtOnceOrInAStream(t *testing.T) {
	s := llmtest.Gemini(t)
	s.Otherwise(llmtest.Thinks("Hm.", llmtest.Says("Hello, 世界.")))
	body := `{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"systemInstruction":{"parts":[{"text":"Be brief."}]}}`
	for path, is := range map[string]struct {
		media  string
		chunks int
	}{
		"/models/gemini-3-pro:generateContent":               {"application/json", 1},
		"/models/gemini-3-pro:streamGenerateContent?alt=sse": {"text/event-stream", 3},
	} {
		res, got := post(t, s, path, body)
		if media, n := res.Header.Get("Content-Type"), strings.Count(got, `"modelVersion":"gemini-3-pro"`); !strings.HasPrefix(media, is.media) || n != is.chunks {
			t.Errorf("%s answers with %d objects in %s, want %d in %s:\n%s", path, n, media, is.chunks, is.media, got)
		}
		if n := strings.Count(got, `"finishReason":"STOP"`); n != 1 || strings.Count(got, `"thought":true`) != 1 {
			t.Errorf("%s ends %d times, want once after one thought:\n%s", path, n, got)
		}
	}
	if r := s.Requests()[0]; r.Model != "gemini-3-pro" || r.System != "Be brief." || r.Messages[0].Words() != "hello" {
		t.Errorf("the request is understood as %+v", r)
	}
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
