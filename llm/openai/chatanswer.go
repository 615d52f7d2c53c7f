package openai

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A chatAnswer is put together from the chunks of a Chat Completions stream.
// After a finish_reason nothing is missing but the usage, which comes last.
type chatAnswer struct {
	llm.Exchange
	signed  bool
	calls   map[int64]*llm.Piece // by index
	thought bool                 // the last text was a thought between tags
}

func newChatAnswer(c *Chat) *chatAnswer {
	a := &chatAnswer{signed: c.dialect.Signed, calls: map[int64]*llm.Piece{}}
	a.Key, a.Header = c.options.Key, header
	a.Message.Provider, a.Message.Model = c.dialect.Name, c.options.Model
	return a
}

// take adds what c says to the answer and returns what of it is to be shown.
func (a *chatAnswer) take(c *openai.ChatCompletionChunk) (deltas []llm.Delta) {
	a.Named(c.Model)
	if c.JSON.Usage.Valid() {
		a.Message.Usage = chatUsage(&c.Usage)
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := &c.Choices[0]
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if s, ok := skein.Unquote([]byte(choice.Delta.JSON.ExtraFields[name].Raw())); ok && s != "" {
			deltas = append(deltas, a.reason(s))
			break
		}
	}
	deltas = append(deltas, a.say(&choice.Delta)...)
	for i := range choice.Delta.ToolCalls {
		deltas = append(deltas, a.call(&choice.Delta.ToolCalls[i])...)
	}
	if choice.FinishReason != "" {
		a.Message.Stop, a.Ended = choice.FinishReason, true
		a.Cut = choice.FinishReason == "length"
	}
	return deltas
}

func (a *chatAnswer) reason(s string) llm.Delta {
	a.Last(skein.PartReasoning).Grow(s)
	return llm.Delta{Reasoning: s}
}

// say adds a piece of text, which may be a thought.
func (a *chatAnswer) say(d *openai.ChatCompletionChunkChoiceDelta) (deltas []llm.Delta) {
	text := d.Content + d.Refusal
	if a.signed {
		extra := d.JSON.ExtraFields["extra_content"]
		a.sign(extra)
		if thinks(extra) {
			a.thought = true
			if text = strings.TrimPrefix(text, "<thought>"); text != "" {
				deltas = append(deltas, a.reason(text))
			}
			return deltas
		}
		if a.thought {
			text, a.thought = strings.TrimPrefix(text, "</thought>"), false
		}
	}
	if text == "" {
		return nil
	}
	a.Last(skein.PartText).Grow(text)
	return append(deltas, llm.Delta{Text: text})
}

// thinks reports whether extra marks a thought of Gemini's.
func thinks(extra respjson.Field) bool {
	var x struct {
		Google struct{ Thought bool }
	}
	return json.Unmarshal([]byte(extra.Raw()), &x) == nil && x.Google.Thought
}

// sign keeps extra, if it has a signature, as reasoning before what it signs.
func (a *chatAnswer) sign(extra respjson.Field) {
	var x struct {
		Google struct {
			Signature string `json:"thought_signature"`
		}
	}
	if json.Unmarshal([]byte(extra.Raw()), &x) != nil || x.Google.Signature == "" {
		return
	}
	p := a.Last(skein.PartReasoning)
	p.Part.Raw, p.Whole = json.RawMessage(extra.Raw()), true
}

// call adds a piece of a call. A new one begins with an index that was not
// there before, or with another ID: some servers give each call the index 0.
func (a *chatAnswer) call(c *openai.ChatCompletionChunkChoiceDeltaToolCall) (deltas []llm.Delta) {
	p := a.calls[c.Index]
	if p == nil || c.ID != "" && p.Part.Call.ID != c.ID {
		a.Close() // what came before has come to its end
		if a.signed {
			a.sign(c.JSON.ExtraFields["extra_content"])
		}
		p = a.Add(skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: c.ID}})
		a.calls[c.Index] = p
	}
	if p.Part.Call.Name == "" && c.Function.Name != "" {
		p.Part.Call.Name = c.Function.Name
		deltas = append(deltas, llm.Delta{Call: c.Function.Name})
	}
	p.Grow(c.Function.Arguments)
	return deltas
}

// chatUsage returns u with what was cached apart from what was read anew. Where
// the total is more than its parts, the rest was thought: Google does not count
// it as output.
func chatUsage(u *openai.CompletionUsage) *skein.Usage {
	read, wrote := u.PromptTokensDetails.CachedTokens, u.PromptTokensDetails.CacheWriteTokens
	s := &skein.Usage{
		Input: max(0, u.PromptTokens-read-wrote), CacheRead: read, CacheWrite: wrote,
		Output: u.CompletionTokens, Reasoning: u.CompletionTokensDetails.ReasoningTokens,
	}
	if rest := u.TotalTokens - u.PromptTokens - u.CompletionTokens; rest > 0 {
		s.Output += rest
		s.Reasoning = max(s.Reasoning, rest)
	}
	return s
}
