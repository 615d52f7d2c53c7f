package openai

import (
	"encoding/json"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// An answer is built from the events of a stream of the Responses API. Items
// (reasoning, message, function_call) are added, grow by deltas and are done;
// the last event has the usage and the reason for the end.
type answer struct {
	llm.Exchange
	items map[int64]*growing // by output_index
}

// A growing is an output item that has begun.
type growing struct {
	*llm.Piece
	part int64 // index of the latest piece of its text
}

func newAnswer(p *Provider) *answer {
	a := &answer{items: map[int64]*growing{}}
	a.Key, a.Header = p.options.Key, header
	a.Message.Provider, a.Message.Model = p.rules.Provider, p.options.Model
	return a
}

// take adds an event to the answer and returns what of it is to be shown.
func (a *answer) take(data []byte) ([]llm.Delta, error) {
	var e event
	if err := llm.Decode(data, &e); err != nil {
		return nil, err
	}
	var d llm.Delta
	it := a.items[e.Output]
	switch e.Type {
	case "response.output_item.added":
		d = a.begin(&e)
	case "response.output_text.delta", "response.refusal.delta":
		d.Text = it.grow(skein.PartText, e.Content, e.Delta)
	case "response.reasoning_summary_text.delta":
		d.Reasoning = it.grow(skein.PartReasoning, e.Summary, e.Delta)
	case "response.reasoning_text.delta":
		d.Reasoning = it.grow(skein.PartReasoning, e.Content, e.Delta)
	case "response.function_call_arguments.delta":
		it.grow(skein.PartCall, 0, e.Delta)
	case "response.output_item.done":
		d = it.done(e.Item)
	case "response.completed", "response.incomplete":
		a.end(e.Response)
	case "response.failed":
		return nil, llm.Refusal(http.StatusOK, nil, e.Response)
	default:
		if e.Type == "error" || isSet(e.Error) {
			return nil, llm.Refusal(http.StatusOK, nil, data)
		}
	}
	return []llm.Delta{d}, nil
}

// isSet reports whether a field of an event was present and not null.
func isSet(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

func (a *answer) begin(e *event) llm.Delta {
	var o made
	_ = llm.Decode(e.Item, &o) // valid JSON, or left out
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
	a.items[e.Output] = &growing{Piece: a.Add(p)}
	if p.Call != nil {
		return llm.Delta{Call: o.Name}
	}
	return llm.Delta{}
}

// grow adds s to the item, if it is of that kind, and returns the added text.
// Pieces of its text are separated by a blank line.
func (it *growing) grow(k skein.PartKind, part int64, s string) string {
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

// done completes the item with what raw has and no delta brought, and returns
// what of it is to be shown.
func (it *growing) done(raw json.RawMessage) (d llm.Delta) {
	if it == nil {
		return d
	}
	var o made
	_ = llm.Decode(raw, &o) // valid JSON, or left out
	switch it.Part.Kind {
	case skein.PartReasoning:
		if o.Encrypted != "" {
			it.Part.Raw = raw
		}
	case skein.PartCall:
		if it.Grown() == "" {
			it.Grow(o.Arguments)
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

func (a *answer) end(raw json.RawMessage) {
	var r response
	_ = llm.Decode(raw, &r) // valid JSON, or left out
	a.Named(r.Model)
	if r.Usage != nil {
		a.Message.Usage = r.Usage.apart()
	}
	a.Message.Tier, a.Message.Stop, a.Ended = skein.ServiceTier(r.Tier), r.Status, true
	if r.Why.Reason != "" {
		a.Message.Stop, a.Cut = r.Why.Reason, true
	}
}

// apart returns u with cached input separate from uncached input.
func (u *usage) apart() *skein.Usage {
	return &skein.Usage{
		Input: max(0, u.Input-u.In.Cached-u.In.CacheWrite), CacheRead: u.In.Cached, CacheWrite: u.In.CacheWrite,
		Output: u.Output, Reasoning: u.Out.Reasoning,
	}
}
