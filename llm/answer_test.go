package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// begun returns an answer with a thought, a text and two calls, the last of
// which is still incomplete.
func begun() *llm.Exchange {
	x := &llm.Exchange{Key: "sk-secret"}
	x.Message = skein.Message{Provider: "p", Model: "m", Request: "req_1", Usage: &skein.Usage{Input: 3}}
	thought := x.Add(skein.Part{Kind: skein.PartReasoning})
	thought.Grow("Hm.")
	thought.Part.Raw, thought.Whole = json.RawMessage(`{"signed":true}`), true
	x.Last(skein.PartText).Grow("He")
	x.Last(skein.PartText).Grow("llo")
	x.Add(skein.Part{Kind: skein.PartText})
	call := x.Add(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "call_1", Name: "look"}})
	call.Grow(`{"a": "<1>"} `)
	call.Whole = true
	x.Add(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "call_2", Name: "look"}}).Grow(`{"a": `)
	return x
}

func TestExchange_AnAnswerThatBrokeOffBeforeItBeganHasItsCost(t *testing.T) {
	x := &llm.Exchange{}
	if d, _ := x.End(t.Context(), io.ErrUnexpectedEOF); d.Message != nil {
		t.Errorf("End() of nothing = %+v, want no message", d.Message)
	}
	x.Message.Usage = &skein.Usage{Input: 3}
	d, err := x.End(t.Context(), io.ErrUnexpectedEOF)
	if m := d.Message; !errors.Is(err, llm.ErrCut) || m == nil || len(m.Parts) > 0 || !m.Interrupted || m.Usage.Input != 3 {
		t.Errorf("End() of an answer whose cost is known = %+v, %v, want the cost", m, err)
	}
}

func TestExchange_WholeAnswerHasAll(t *testing.T) {
	x := begun()
	x.Ended = true
	d, err := x.End(t.Context(), io.ErrUnexpectedEOF)
	if err != nil {
		t.Fatalf("End() after the end = %v, want nil", err)
	}
	want := []skein.Part{
		{Kind: skein.PartReasoning, Text: "Hm.", Raw: json.RawMessage(`{"signed":true}`)},
		skein.TextPart("Hello"),
		{Kind: skein.PartCall, Call: &skein.Call{ID: "call_1", Name: "look", Input: json.RawMessage(`{"a": "<1>"}`)}},
		{Kind: skein.PartCall, Call: &skein.Call{ID: "call_2", Name: "look", Input: json.RawMessage(`"{\"a\":"`)}},
	}
	if diff := cmp.Diff(want, d.Message.Parts); diff != "" || d.Message.Interrupted || d.Message.Usage.Requests != 1 {
		t.Errorf("End() = %+v, parts (-want +got):\n%s", d.Message, diff)
	}
	x = begun()
	x.Ended, x.Cut = true, true
	if d, _ := x.End(t.Context(), nil); len(d.Message.Parts) != 3 {
		t.Errorf("End() at a limit has %d parts, want 3 without the torn call", len(d.Message.Parts))
	}
}

func TestExchange_BrokenAnswerHasWhatThereWas(t *testing.T) {
	d, err := begun().End(t.Context(), io.ErrUnexpectedEOF)
	e := (*llm.Error)(nil)
	if !errors.As(err, &e) || !errors.Is(err, llm.ErrCut) || !errors.Is(err, io.ErrUnexpectedEOF) || e.Request != "req_1" {
		t.Errorf("End(%v) = %#v, want %v of req_1", io.ErrUnexpectedEOF, err, llm.ErrCut)
	}
	if !d.Message.Interrupted || len(d.Message.Parts) != 3 {
		t.Errorf("End(%v) = %+v, want three parts, interrupted", io.ErrUnexpectedEOF, d.Message)
	}
	x := &llm.Exchange{}
	x.Add(skein.Part{Kind: skein.PartReasoning, Raw: json.RawMessage(`{"signed":true}`)}).Grow("Hm")
	if d, _ := x.End(t.Context(), io.ErrUnexpectedEOF); len(d.Message.Parts) != 1 || d.Message.Parts[0].Raw != nil {
		t.Errorf("End() in the middle of a thought = %+v, want it without what only the whole one has", d.Message)
	}
	if d, err := (&llm.Exchange{}).End(t.Context(), nil); d.Message != nil || !errors.Is(err, llm.ErrCut) {
		t.Errorf("End() of nothing = %+v, %v, want no message and %v", d.Message, err, llm.ErrCut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := begun().End(ctx, io.ErrUnexpectedEOF); !errors.Is(err, context.Canceled) || !d.Message.Interrupted {
		t.Errorf("End() after its context = %+v, %v, want its error", d.Message, err)
	}
	if _, err := begun().End(t.Context(), errors.New("with sk-secret in it")); err.Error() != "answer broke off: with [key] in it" {
		t.Errorf("End() = %q, which has the key in it", err)
	}
}

func TestExchange_NamedKeepsTheNameThatWasAskedFor(t *testing.T) {
	for _, tt := range []struct{ asked, vendor, want string }{
		{"claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219", "claude-3-7-sonnet-latest"},
		{"gpt-5", "", "gpt-5"},
		{"auto", "vendor/model-1", "vendor/model-1"},
	} {
		x := &llm.Exchange{}
		x.Message.Model = tt.asked
		if x.Named(tt.vendor); x.Message.Model != tt.want {
			t.Errorf("Named(%q) of %q = %q, want %q", tt.vendor, tt.asked, x.Message.Model, tt.want)
		}
	}
}
