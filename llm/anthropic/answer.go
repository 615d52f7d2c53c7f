package anthropic

import (
	"encoding/json"
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// An answer is put together from the events of a stream:
//
//	message_start                                     model, tokens read
//	content_block_start, content_block_delta …, content_block_stop
//	message_delta                                     why it ended, tokens written
//	message_stop
//
// and ping at any time. After message_delta nothing is missing.
type answer struct {
	llm.Exchange
	blocks map[int64]*block
}

// A block is a content block that has begun.
type block struct {
	*llm.Piece
	signature string
}

func newAnswer(p *Provider) *answer {
	a := &answer{blocks: map[int64]*block{}}
	a.Key, a.Header = p.options.Key, "Request-Id"
	a.Message.Provider, a.Message.Model = p.rules.Provider, p.options.Model
	return a
}

// take adds what e says to the answer and returns what of it is to be shown.
func (a *answer) take(e *sdk.MessageStreamEventUnion) llm.Delta {
	switch e.Type {
	case "message_start":
		a.start(e.Message)
	case "content_block_start":
		return a.begin(e.Index, &e.ContentBlock)
	case "content_block_delta":
		if b := a.blocks[e.Index]; b != nil {
			return b.grow(&e.Delta)
		}
	case "content_block_stop":
		if b := a.blocks[e.Index]; b != nil {
			b.stop()
		}
	case "message_delta":
		a.end(e)
	}
	return llm.Delta{}
}

func (a *answer) start(m sdk.Message) {
	a.Named(m.Model)
	if m.JSON.Usage.Valid() {
		a.Message.Usage = &skein.Usage{
			Input: m.Usage.InputTokens, Output: m.Usage.OutputTokens,
			CacheRead: m.Usage.CacheReadInputTokens, CacheWrite: m.Usage.CacheCreationInputTokens,
		}
	}
}

func (a *answer) begin(i int64, c *sdk.ContentBlockStartEventContentBlockUnion) llm.Delta {
	switch c.Type {
	case "text":
		b := &block{Piece: a.Add(skein.Part{Kind: skein.PartText})}
		a.blocks[i] = b
		b.Grow(c.Text)
		return llm.Delta{Text: c.Text}
	case "thinking":
		b := &block{Piece: a.Add(skein.Part{Kind: skein.PartReasoning}), signature: c.Signature}
		a.blocks[i] = b
		b.Grow(c.Thinking)
		return llm.Delta{Reasoning: c.Thinking}
	case "redacted_thinking":
		raw, _ := json.Marshal(sdk.NewRedactedThinkingBlock(c.Data)) // strings alone
		a.blocks[i] = &block{Piece: a.Add(skein.Part{Kind: skein.PartReasoning, Raw: raw})}
	case "tool_use":
		a.blocks[i] = &block{Piece: a.Add(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.ID, Name: c.Name}})}
		return llm.Delta{Call: c.Name}
	}
	return llm.Delta{}
}

func (b *block) grow(d *sdk.MessageStreamEventUnionDelta) llm.Delta {
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
		b.Grow(d.PartialJSON)
	}
	return llm.Delta{}
}

func (b *block) stop() {
	b.Whole = true
	if b.Part.Kind == skein.PartReasoning && b.signature != "" {
		b.Part.Raw, _ = json.Marshal(sdk.NewThinkingBlock(b.signature, b.Grown())) // strings alone
	}
}

func (a *answer) end(e *sdk.MessageStreamEventUnion) {
	if e.JSON.Usage.Valid() {
		u := skein.Usage{
			Input: e.Usage.InputTokens, Output: e.Usage.OutputTokens, Reasoning: e.Usage.OutputTokensDetails.ThinkingTokens,
			CacheRead: e.Usage.CacheReadInputTokens, CacheWrite: e.Usage.CacheCreationInputTokens,
		}
		if a.Message.Usage != nil {
			u = a.Message.Usage.Merge(u)
		}
		a.Message.Usage = &u
	}
	if e.Delta.StopReason == "" {
		return
	}
	a.Message.Stop = string(e.Delta.StopReason)
	a.Cut = e.Delta.StopReason == sdk.StopReasonMaxTokens || e.Delta.StopReason == sdk.StopReasonModelContextWindowExceeded
	a.Ended = true
}

// reason returns err, or the error event of a stream that it is about.
func reason(err error) error {
	if e := (*sdk.Error)(nil); errors.As(err, &e) {
		return llm.Refusal(e.StatusCode, nil, []byte(e.RawJSON()))
	}
	return err
}
