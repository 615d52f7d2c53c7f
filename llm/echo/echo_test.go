package echo_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/echo"
	"github.com/skein-dev/skein/llm/window"
)

// A heard is the result of one request.
type heard struct {
	text, reasoning string
	pieces          int
	message         *skein.Message
	err             error
}

func ask(ctx context.Context, m *echo.Model, r llm.Request) (h heard) {
	for d, err := range m.Stream(ctx, r) {
		h.text += d.Text
		h.reasoning += d.Reasoning
		h.pieces++
		h.message, h.err = d.Message, err
	}
	return h
}

func typed(prompt string) llm.Request {
	return llm.Request{Messages: []skein.Message{skein.UserSays(prompt)}}
}

// after returns r with the answer h and the results of its calls.
func after(r llm.Request, h heard, results ...string) llm.Request {
	answer := *h.message
	answer.Parts = slices.DeleteFunc(slices.Clone(answer.Parts), func(p skein.Part) bool { return p.Kind == skein.PartReasoning })
	r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], answer)
	m := skein.Message{Role: skein.RoleTool}
	i := 0
	for _, p := range h.message.Parts {
		if p.Kind == skein.PartCall {
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: p.Call.ID, Text: skein.Text(results[i])}})
			i++
		}
	}
	r.Messages = append(r.Messages, m)
	return r
}

func calls(m *skein.Message) (all []string) {
	for _, p := range m.Parts {
		if p.Call != nil {
			all = append(all, p.Call.Name+string(p.Call.Input))
		}
	}
	return all
}

func TestItSaysAgainWhatWasSaid(t *testing.T) {
	m := echo.New(echo.Options{ID: func() string { return "r1" }})
	h := ask(t.Context(), m, typed("hello there,\nyou <b>"))
	if h.err != nil || h.text != "hello there,\nyou <b>" || h.message.Words() != h.text {
		t.Fatalf("Stream = %q, message %+v, error %v; want the prompt", h.text, h.message, h.err)
	}
	if h.pieces != 4 {
		t.Errorf("it came in %d pieces, want one for each word and the message", h.pieces)
	}
	if u := h.message.Usage; u.Input != 4 || u.Output != 4 || u.Requests != 1 || h.message.Request != "r1" || h.message.Stop == "" {
		t.Errorf("usage %+v of request %q, stop %q; want words as tokens, r1 and a reason", u, h.message.Request, h.message.Stop)
	}
}

func TestRequestsHaveIDsOfTheirOwn(t *testing.T) {
	m := echo.New(echo.Options{})
	a, b := ask(t.Context(), m, typed("a")), ask(t.Context(), m, typed("a"))
	if a.message.Request == "" || a.message.Request == b.message.Request {
		t.Errorf("request IDs %q and %q of two requests; want two", a.message.Request, b.message.Request)
	}
}

func TestItCallsTheToolsItIsToldTo(t *testing.T) {
	m := echo.New(echo.Options{})
	r := typed(`please
echo: call shell {"command": "echo: <a> }"} echo: call list_files
echo: then echo: call read_file {"path":"a"} echo: think hm
echo: then echo: say the end`)
	h := ask(t.Context(), m, r)
	if got, want := strings.Join(calls(h.message), " "), `shell{"command": "echo: <a> }"} list_files{}`; got != want {
		t.Fatalf("first answer calls %s (error %v), want %s", got, h.err, want)
	}
	r = after(r, h, "one", "two")
	if err := window.GenericRules().Check(r.Messages); err != nil {
		t.Fatal(err)
	}
	h = ask(t.Context(), m, r)
	if got, want := strings.Join(calls(h.message), " "), `read_file{"path":"a"}`; got != want || h.reasoning != "hm" {
		t.Fatalf("second answer calls %s and thinks %q, want %s and hm", got, h.reasoning, want)
	}
	r = after(r, h, "three")
	if err := window.GenericRules().Check(r.Messages); err != nil {
		t.Fatal(err)
	}
	if h = ask(t.Context(), m, r); h.text != "the end" {
		t.Fatalf("third answer %q, want the end", h.text)
	}
}

func TestAfterTheLastDirectiveItSaysWhatTheToolsSaid(t *testing.T) {
	m := echo.New(echo.Options{})
	r := typed(`echo: call a echo: call b`)
	h := ask(t.Context(), m, after(r, ask(t.Context(), m, r), "one\n", "two"))
	if h.text != "one\n\ntwo" {
		t.Errorf("answer %q, want the results of both", h.text)
	}
}

func TestItFailsAsOftenAsItIsToldTo(t *testing.T) {
	for status, kind := range map[string]error{
		"429": llm.ErrBusy, "503": llm.ErrBusy, "400": llm.ErrRequest,
		"413": llm.ErrTooLong, "401": llm.ErrDenied, "404": llm.ErrModel,
	} {
		m := echo.New(echo.Options{})
		r := typed("echo: fail " + status + " 2 echo: say well")
		for i := range 2 {
			if h := ask(t.Context(), m, r); !errors.Is(h.err, kind) || h.message != nil {
				t.Errorf("fail %s, try %d: %+v, want %v", status, i, h, kind)
			}
		}
		if h := ask(t.Context(), m, r); h.err != nil || h.text != "well" {
			t.Errorf("fail %s, third try: %q, %v; want the answer", status, h.text, h.err)
		}
	}
}

func TestItBreaksOffInTheMiddle(t *testing.T) {
	m := echo.New(echo.Options{})
	r := typed("echo: break\necho: call shell\necho: say one two three four")
	h := ask(t.Context(), m, r)
	if !errors.Is(h.err, llm.ErrCut) || h.text != "one two " || h.message.Words() != "one two " || !h.message.Interrupted || len(calls(h.message)) > 0 {
		t.Errorf("first try: %q, %+v, %v; want half of it and %v", h.text, h.message, h.err, llm.ErrCut)
	}
	if h = ask(t.Context(), m, r); h.err != nil || h.text != "one two three four" || len(calls(h.message)) != 1 {
		t.Errorf("second try: %q, %v; want all of it", h.text, h.err)
	}
}

func TestItIsAsSlowAsItIsToldTo(t *testing.T) {
	var waited []time.Duration
	m := echo.New(echo.Options{Wait: func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		return nil
	}})
	if h := ask(t.Context(), m, typed("echo: slow 2s echo: say a b c d")); h.text != "a b c d" {
		t.Fatalf("answer %q, %v", h.text, h.err)
	}
	if len(waited) != 4 || waited[0] != 500*time.Millisecond {
		t.Errorf("it waited %v, want half a second before each of four words", waited)
	}
}

func TestItStopsWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last llm.Delta
	var err error
	for last, err = range echo.New(echo.Options{}).Stream(ctx, typed("echo: hang echo: say a b")) {
		if last.Text == "b" {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) || last.Message == nil || last.Message.Words() != "a b" || !last.Message.Interrupted {
		t.Errorf("hang ended with %+v, %v; want what was said, marked, and %v", last.Message, err, context.Canceled)
	}
	if h := ask(ctx, echo.New(echo.Options{}), typed("a")); !errors.Is(h.err, context.Canceled) {
		t.Errorf("Stream after the end: %+v, want %v", h, context.Canceled)
	}
}

func TestWrongDirectivesAreTurnedDown(t *testing.T) {
	for _, prompt := range []string{
		"echo: dance", "echo:", "echo: call", `echo: call {"a":1}`, `echo: call shell {"a":`, `echo: call shell {} {}`,
		"echo: call shell [1]", "echo: fail", "echo: fail 200", "echo: slow", "echo: slow -1s", "echo: words 0",
	} {
		h := ask(t.Context(), echo.New(echo.Options{}), typed(prompt))
		if !errors.Is(h.err, llm.ErrRequest) || !strings.Contains(h.err.Error(), "echo: ") {
			t.Errorf("%q: %+v, want %v that says what is wrong", prompt, h, llm.ErrRequest)
		}
	}
}

func TestOnlyTheBeginningOfALineIsADirective(t *testing.T) {
	const prompt = "what does echo: say do?"
	if h := ask(t.Context(), echo.New(echo.Options{}), typed(prompt)); h.text != prompt {
		t.Errorf("answer %q, want %q", h.text, prompt)
	}
}

func TestAProgramIsNotObeyed(t *testing.T) {
	said := typed("echo: fail 500 always").Messages
	said = append(said, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("yes")}}, skein.UserSays("and the moon is made of cheese, they say"))
	for request, want := range map[string]string{
		"Sum up what was said.\necho: fail 500": "Summary: fail 500 always; and the moon is made of",
		"Give it a title":                       "fail 500 always",
		"Go on":                                 "Go on",
	} {
		m := skein.UserSays(request)
		m.Synthetic = true
		h := ask(t.Context(), echo.New(echo.Options{}), llm.Request{Messages: append(said[:3:3], m)})
		if h.err != nil || h.text != want {
			t.Errorf("%q is answered %q, %v; want %q", request, h.text, h.err, want)
		}
	}
}

func TestContextIsWhatTheModelWasShown(t *testing.T) {
	m := echo.New(echo.Options{})
	r := typed("echo: call shell {\"command\":\"a\"}\necho: then echo: context")
	r.System, r.Tools = "You are\nbrief.", []llm.ToolSpec{{Name: "shell"}, {Name: "read_file"}}
	h := ask(t.Context(), m, after(r, ask(t.Context(), m, r), "fine"))
	want := "system: You are brief.\ntools: shell read_file\nuser: echo: call shell {\"command\":\"a\"} echo: then echo: context\n" +
		"assistant: call shell {\"command\":\"a\"}\ntool: result fine\n"
	if h.text != want {
		t.Errorf("context is\n%s\nwant\n%s", h.text, want)
	}
}

func TestLongAnswersComeInAThousandPieces(t *testing.T) {
	h := ask(t.Context(), echo.New(echo.Options{}), typed("echo: words 100000"))
	if n := len(strings.Fields(h.text)); n != 100000 || h.pieces > 1001 || h.message.Words() != h.text {
		t.Errorf("%d words in %d pieces, want 100000 in at most 1001", n, h.pieces)
	}
}

// Whatever the prompt is, the answer keeps the rules.
func FuzzStream(f *testing.F) {
	f.Add(`echo: call a {"b":1} echo: then echo: say x`)
	f.Add("echo: think a\necho: break 0 echo: fail 429 0 echo: context")
	f.Add("\xff echo:")
	f.Fuzz(func(t *testing.T, prompt string) {
		if strings.Contains(prompt, "slow") || strings.Contains(prompt, "hang") {
			return
		}
		m := echo.New(echo.Options{})
		h := ask(t.Context(), m, typed(prompt))
		if h.err != nil {
			return
		}
		for _, p := range h.message.Parts {
			if p.Call != nil && (!json.Valid(p.Call.Input) || p.Call.Input[0] != '{' || p.Call.ID == "") {
				t.Errorf("%q makes the call %+v", prompt, p.Call)
			}
		}
	})
}
