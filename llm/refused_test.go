package llm_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skein-dev/skein/llm"
)

func TestRefusal_SaysWhatACallerCanDo(t *testing.T) {
	for _, tt := range []struct {
		name    string
		status  int
		body    string
		want    error
		message string
	}{
		{"Anthropic's", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: bad"}}`, llm.ErrRequest, "messages: bad"},
		{"Anthropic's, in a stream", 200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.ErrBusy, "Overloaded"},
		{"OpenAI's", 401, `{"error":{"message":"Incorrect key","type":"invalid_request_error","code":"invalid_api_key"}}`, llm.ErrDenied, "Incorrect key"},
		{"a router's, in a stream", 200, `{"error":{"code":502,"message":"Provider disconnected"}}`, llm.ErrBusy, "Provider disconnected"},
		{"a router's, in a stream, about the request", 200, `{"error":{"code":"400","message":"Bad tool"}}`, llm.ErrRequest, "Bad tool"},
		{"the request's fault, in a stream", 200, `{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`, llm.ErrRequest, "bad"},
		{"unknown, in a stream", 200, `{"error":{"message":"something happened"}}`, llm.ErrCut, "something happened"},
		{"an empty purse", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.ErrDenied, "You exceeded your current quota"},
		{"too long, by its code", 400, `{"error":{"message":"Too many tokens","code":"context_length_exceeded"}}`, llm.ErrTooLong, "Too many tokens"},
		{"too long, by a server of one's own", 400, `{"error":{"code":400,"message":"the request exceeds the available context size (8192 tokens)","type":"exceed_context_size_error"}}`, llm.ErrTooLong, "the request exceeds the available context size (8192 tokens)"},
		{"Google's", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, llm.ErrDenied, "API key not valid. Please pass a valid API key."},
		{"Google's, busy", 503, `[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`, llm.ErrBusy, "The model is overloaded."},
		{"Ollama's", 404, `{"error":"model 'x' not found"}`, llm.ErrModel, "model 'x' not found"},
		{"a gateway's", 402, `{"message":"Payment required"}`, llm.ErrDenied, "Payment required"},
		{"a gateway's detail", 422, `{"detail":"no"}`, llm.ErrRequest, "no"},
		{"an odd error", 400, `{"error":{"no":"message"}}`, llm.ErrRequest, `{"no":"message"}`},
		{"an odd object", 418, `{"tea":true}`, llm.ErrRequest, `{"tea":true}`},
		{"no error, and a message", 500, `{"error":null,"message":"oh"}`, llm.ErrBusy, "oh"},
		{"a page", 502, "<html>Bad Gateway</html>\n", llm.ErrBusy, "<html>Bad Gateway</html>"},
		{"nothing", 504, "", llm.ErrBusy, "Gateway Timeout"},
		{"an empty list", 500, "[]", llm.ErrBusy, "[]"},
		{"a redirect", 307, "", llm.ErrRequest, "Temporary Redirect"},
	} {
		e := llm.Refusal(tt.status, nil, []byte(tt.body))
		if !errors.Is(e, tt.want) || e.Message != tt.message || e.Status != tt.status && tt.status != 200 || tt.status == 200 && e.Status != 0 {
			t.Errorf("%s: Refusal(%d, %s) = %v %q, want %v %q", tt.name, tt.status, tt.body, e.Kind, e.Message, tt.want, tt.message)
		}
	}
}

func TestRefusal_SaysHowLongToWait(t *testing.T) {
	soon := time.Now().Add(time.Minute).UTC()
	for _, tt := range []struct {
		header, value, body string
		least, most         time.Duration
	}{
		{"Retry-After", "7", "", 7 * time.Second, 7 * time.Second},
		{"Retry-After", "1.5", "", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"Retry-After-Ms", "250", "", 250 * time.Millisecond, 250 * time.Millisecond},
		{"Retry-After", soon.Format(http.TimeFormat), "", 50 * time.Second, time.Minute},
		{"Retry-After", "Sat, 21 Nov 2020 08:00:00 GMT", "", 0, 0},
		{"Retry-After", "soon", "", 0, 0},
		{"Retry-After", "1e300", "", 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", "Inf", "", 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", "NaN", "", 0, 0},
		{"Retry-After-Ms", "1e18", "", 24 * time.Hour, 24 * time.Hour},
		{"X-Other", "1", `[{"error":{"message":"m","details":[{"retryDelay":"900000h"}]}}]`, 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", "-3", "", 0, 0},
		{"X-Other", "1", `[{"error":{"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, 34 * time.Second, 34 * time.Second},
		{"X-Other", "1", `[{"error":{"message":"m","details":"none"}}]`, 0, 0},
	} {
		e := llm.Refusal(429, http.Header{tt.header: {tt.value}}, []byte(tt.body))
		if e.After < tt.least || e.After > tt.most {
			t.Errorf("Refusal(%s: %s, %s) wants %s, want %s to %s", tt.header, tt.value, tt.body, e.After, tt.least, tt.most)
		}
	}
}

func TestAgain_IsForWhatMayDoLater(t *testing.T) {
	busy := &llm.Error{Kind: llm.ErrBusy, After: time.Second}
	for _, tt := range []struct {
		err  error
		wait time.Duration
		want bool
	}{
		{busy, time.Second, true},
		{&llm.Error{Kind: llm.ErrCut, Err: errors.New("reset")}, 0, true},
		{&llm.Error{Kind: llm.ErrDenied}, 0, false},
		{errors.New("another"), 0, false},
		{nil, 0, false},
	} {
		if wait, ok := llm.Again(tt.err); wait != tt.wait || ok != tt.want {
			t.Errorf("Again(%v) = %s, %t, want %s, %t", tt.err, wait, ok, tt.wait, tt.want)
		}
	}
}

func FuzzRefusal(f *testing.F) {
	f.Add(400, []byte(`[{"error":{"code":400,"message":"m","details":[{"retryDelay":"1s"}]}}]`))
	f.Add(500, []byte(strings.Repeat("ü", 5000)))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := llm.Refusal(status, nil, body)
		if e.Kind == nil || len(e.Message) > 4<<10 || !utf8.ValidString(e.Message) || e.After < 0 {
			t.Errorf("Refusal(%d, %q) = %#v", status, body, e)
		}
	})
}
