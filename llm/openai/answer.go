package openai

import (
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// An answer is put together from the events of a stream of the Responses API.
// Items (reasoning, message, function_call) are added, grow by deltas and are
// done; the last event has the usage and why it ended.
type answer struct {
	llm.Exchange
	items  map[int64]*item // by output_index
	failed error
}

// An item is an output item that has begun.
type item struct {
	*llm.Piece
	part int64 // index of the piece of its text that came last
}

func newAnswer(p *Provider) *answer {
	a := &answer{items: map[int64]*item{}}
	a.Key, a.Header = p.options.Key, header
	a.Message.Provider, a.Message.Model = p.rules.Provider, p.options.Model
	return a
}

// take adds what e says to the answer and returns what of it is to be shown.
func (a *answer) take(e *responses.ResponseStreamEventUnion) llm.Delta {
	it := a.items[e.OutputIndex]
	switch e.Type {
	case "response.output_item.added":
		return a.begin(e.OutputIndex, &e.Item)
	case "response.output_text.delta", "response.refusal.delta":
		return llm.Delta{Text: it.grow(skein.PartText, e.ContentIndex, e.Delta)}
	case "response.reasoning_summary_text.delta":
		return llm.Delta{Reasoning: it.grow(skein.PartReasoning, e.SummaryIndex, e.Delta)}
	case "response.reasoning_text.delta":
		return llm.Delta{Reasoning: it.grow(skein.PartReasoning, e.ContentIndex, e.Delta)}
	case "response.function_call_arguments.delta":
		it.grow(skein.PartCall, 0, e.Delta)
	case "response.output_item.done":
		return it.done(&e.Item)
	case "response.completed", "response.incomplete":
		a.end(&e.Response)
	case "response.failed":
		a.failed = llm.Refusal(200, nil, []byte(e.Response.RawJSON()))
	case "error":
		a.failed = llm.Refusal(200, nil, []byte(e.RawJSON()))
	}
	return llm.Delta{}
}

func (a *answer) begin(i int64, o *responses.ResponseOutputItemUnion) llm.Delta {
	var p skein.Part
	switch o.Type {
	case "message":
		p = skein.Part{Kind: skein.PartText}
	case "reasoning":
		p = skein.Part{Kind: skein.PartReasoning}
	case "function_call":
		p = skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: o.CallID, Name: o.Name}}
	default:
		return llm.Delta{}
	}
	a.items[i] = &item{Piece: a.Add(p)}
	if p.Call != nil {
		return llm.Delta{Call: o.Name}
	}
	return llm.Delta{}
}

// grow adds s to the item, if it is of that kind, and returns what it grew by.
// Between two pieces of its text there is a blank line.
func (it *item) grow(k skein.PartKind, part int64, s string) string {
	if it == nil || it.Whole || it.Part.Kind != k || s == "" {
		return ""
	}
	if part != it.part && it.Grown() != "" {
		s = "\n\n" + s
	}
	it.part = part
	it.Grow(s)
	return s
}

// done ends the item with what o has and no delta brought, and returns what of
// it is to be shown.
func (it *item) done(o *responses.ResponseOutputItemUnion) (d llm.Delta) {
	if it == nil {
		return d
	}
	switch it.Part.Kind {
	case skein.PartReasoning:
		if o.EncryptedContent != "" {
			it.Part.Raw = json.RawMessage(o.RawJSON())
		}
	case skein.PartCall:
		if it.Grown() == "" {
			it.Grow(o.Arguments.OfString)
		}
	case skein.PartText:
		if it.Grown() == "" {
			for i, c := range o.Content {
				d.Text += it.grow(skein.PartText, int64(i), c.Text+c.Refusal)
			}
		}
	}
	it.Whole = true
	return d
}

func (a *answer) end(r *responses.Response) {
	a.Named(r.Model)
	if r.JSON.Usage.Valid() {
		a.Message.Usage = usage(&r.Usage)
	}
	a.Message.Stop = string(r.Status)
	if r.IncompleteDetails.Reason != "" {
		a.Message.Stop, a.Cut = r.IncompleteDetails.Reason, true
	}
	a.Ended = true
}

// usage returns u with what was cached apart from what was read anew.
func usage(u *responses.ResponseUsage) *skein.Usage {
	read, wrote := u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens
	return &skein.Usage{
		Input: max(0, u.InputTokens-read-wrote), CacheRead: read, CacheWrite: wrote,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}
}

// reason returns err, or the error event of a stream that it is about.
func reason(err error) error {
	if e := (*ssestream.StreamError)(nil); errors.As(err, &e) {
		return llm.Refusal(200, nil, e.Event.Data)
	}
	return err
}
