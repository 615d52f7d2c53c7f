package google_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/google"
	"github.com/skein-dev/skein/llm/llmtest"
)

func ask(t *testing.T, s *llmtest.Server, o llm.Options, messages ...skein.Message) (*skein.Message, error) {
	t.Helper()
	o.Key, o.BaseURL = llmtest.Key, s.URL
	p, err := google.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return llmtest.Collect(t, p.Stream(t.Context(), llm.Request{Messages: messages}))
}

func TestThinking_IsAskedForAsTheModelKnowsIt(t *testing.T) {
	s := llmtest.Google(t)
	s.Otherwise(llmtest.Says("Yes."))
	for _, tt := range []struct {
		model  string
		effort llm.Effort
		want   string
	}{
		{"gemini-2.5-flash", llm.Low, `"thinking_config":{"include_thoughts":true,"thinking_budget":1024}`},
		{"models/gemini-2.5-pro", llm.High, `"thinking_config":{"include_thoughts":true,"thinking_budget":24576}`},
		{"gemini-3-pro-preview", llm.High, `"thinking_config":{"include_thoughts":true,"thinking_level":"high"}`},
		{"gemini-3-pro-preview", "", `"stream":true`},
	} {
		if _, err := ask(t, s, llm.Options{Model: tt.model, Effort: tt.effort}, skein.UserSays("hello")); err != nil {
			t.Fatal(err)
		}
		all := s.Requests()
		if body := string(all[len(all)-1].Body); !strings.Contains(body, tt.want) || tt.effort == "" && strings.Contains(body, "think") {
			t.Errorf("%s with effort %q: request %s, want %s in it", tt.model, tt.effort, body, tt.want)
		}
	}
}

// A thread begun by another model has calls that Gemini did not sign.
func TestSignatures_AreNotMissedInCallsOfAnotherModel(t *testing.T) {
	thread := []skein.Message{
		skein.UserSays("hello"),
		{Role: skein.RoleAssistant, Parts: []skein.Part{
			{Kind: skein.PartCall, Call: &skein.Call{ID: "a", Name: "look", Input: []byte(`{}`)}},
			{Kind: skein.PartCall, Call: &skein.Call{ID: "b", Name: "look", Input: []byte(`{}`)}},
		}},
		{Role: skein.RoleUser, Parts: []skein.Part{
			{Kind: skein.PartResult, Result: &skein.Result{CallID: "a", Text: "1"}}, {Kind: skein.PartResult, Result: &skein.Result{CallID: "b", Text: "2"}},
		}},
	}
	s := llmtest.Google(t, llmtest.Says("Yes."), llmtest.Says("Yes."))
	if _, err := ask(t, s, llm.Options{Model: "gemini-3-pro-preview"}, thread...); err != nil {
		t.Errorf("Stream(calls of another model) = %v", err)
	}
	if _, err := ask(t, s, llm.Options{Model: "gemini-2.5-pro"}, thread...); err != nil {
		t.Errorf("Stream(calls of another model) to an older one = %v", err)
	}
	all := s.Requests()
	if n := strings.Count(string(all[0].Body), "skip_thought_signature_validator"); n != 1 {
		t.Errorf("%d calls of a round are marked, want the first: %s", n, all[0].Body)
	}
	if strings.Contains(string(all[1].Body), "skip_thought") {
		t.Errorf("an older model is told what it does not know: %s", all[1].Body)
	}
}

func TestFiles_ARecordingGoesAsOne(t *testing.T) {
	blob := skein.NewBlob([]byte("RIFF"))
	m := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart("What is said?"), {Kind: skein.PartFile, File: &skein.File{Media: "audio/mpeg", Blob: blob.Hash}}}}
	s := llmtest.Google(t, llmtest.Says("Yes."))
	p, err := google.New(llm.Options{Key: llmtest.Key, BaseURL: s.URL, Model: "gemini-2.5-flash"})
	if err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Messages: []skein.Message{m}, Blob: func(context.Context, skein.Hash) ([]byte, error) { return blob.Data, nil }}
	if _, err := llmtest.Collect(t, p.Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if f := s.Requests()[0].Messages[0].Parts[1].File; f == nil || f.Media != "audio/mp3" || f.Blob != blob.Hash {
		t.Errorf("the recording went as %+v", f)
	}
}
