package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// An answer is built from the events of a stream:
//
//	message_start                                     model, tokens read
//	content_block_start, content_block_delta …, content_block_stop
//	message_delta                                     why it ended, tokens written
//	message_stop
//
// and ping at any time. After message_delta, the answer is complete.
type answer struct {
	llm.Exchange
	blocks map[int64]*growing
}

// A growing is a content block that has begun.
type growing struct {
	*llm.Piece
	signature string
}

func newAnswer(p *Provider) *answer {
	a := &answer{blocks: map[int64]*growing{}}
	a.Key, a.Header = p.options.Key, "Request-Id"
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
	switch e.Type {
	case "message_start":
		a.Named(e.Message.Model)
		a.count(e.Message.Usage)
	case "content_block_start":
		d = a.begin(&e)
	case "content_block_delta":
		if b := a.blocks[e.Index]; b != nil {
			d = b.grow(&e.Delta)
		}
	case "content_block_stop":
		if b := a.blocks[e.Index]; b != nil {
			b.stop()
		}
	case "message_delta":
		a.count(e.Usage)
		a.end(e.Delta.StopReason)
	case "error":
		return nil, llm.Refusal(200, nil, data)
	}
	return []llm.Delta{d}, nil
}

// count updates the cost of the answer.
func (a *answer) count(u *usage) {
	if u == nil {
		return
	}
	now := skein.Usage{Input: u.Input, Output: u.Output, Reasoning: u.Details.Thinking, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheHour: u.Written.Hour}
	if a.Message.Usage != nil {
		now = a.Message.Usage.Merge(now)
	}
	a.Message.Usage = &now
	a.Message.Tier = cmp.Or(skein.ServiceTier(u.Speed), skein.ServiceTier(u.Tier), a.Message.Tier)
}

func (a *answer) begin(e *event) llm.Delta {
	i, c := e.Index, &e.Block
	switch c.Type {
	case "text":
		b := &growing{Piece: a.Add(skein.Part{Kind: skein.PartText})}
		a.blocks[i] = b
		b.Grow(c.Text)
		return llm.Delta{Text: c.Text}
	case "thinking":
		b := &growing{Piece: a.Add(skein.Part{Kind: skein.PartReasoning}), signature: c.Signature}
		a.blocks[i] = b
		b.Grow(c.Thinking)
		return llm.Delta{Reasoning: c.Thinking}
	case "redacted_thinking":
		raw, _ := json.Marshal(thought{Type: c.Type, Data: c.Data}) // only strings, so no error
		a.blocks[i] = &growing{Piece: a.Add(skein.Part{Kind: skein.PartReasoning, Raw: raw})}
	case "tool_use":
		a.blocks[i] = &growing{Piece: a.Add(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.ID, Name: c.Name}})}
		return llm.Delta{Call: c.Name}
	}
	return llm.Delta{}
}

func (b *growing) grow(d *delta) llm.Delta {
	switch k := b.Part.Kind; {
	case b.Whole:
	case d.Type == "text_delta" && k == skein.PartText:
		b.Grow(d.Text)
		return llm.Delta{Text: d.Text}
	case d.Type == "thinking_delta" && k == skein.PartReasoning:
		b.Grow(d.Thinking)
		return llm.Delta{Reasoning: d.Thinking}
	case d.Type == "signature_delta":
		b.signature += d.Signature
	case d.Type == "input_json_delta" && k == skein.PartCall:
		b.Grow(d.Input)
	}
	return llm.Delta{}
}

func (b *growing) stop() {
	b.Whole = true
	if b.Part.Kind == skein.PartReasoning && b.signature != "" {
		text := b.Grown()
		b.Part.Raw, _ = json.Marshal(thought{Type: "thinking", Thinking: &text, Signature: b.signature}) // only strings, so no error
	}
}

// end sets why the answer ended.
func (a *answer) end(why string) {
	if why == "" {
		return
	}
	a.Message.Stop, a.Ended = why, true
	a.Cut = why == "max_tokens" || why == "model_context_window_exceeded"
}
