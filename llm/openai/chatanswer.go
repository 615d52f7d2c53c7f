package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A chatAnswer is built from the chunks of a Chat Completions stream. After a
// finish_reason, only the usage may be missing, which comes last.
type chatAnswer struct {
	llm.Exchange
	signed  bool
	calls   map[int64]*llm.Piece // by index
	thought bool                 // the last text was a thought between tags
}

func newChatAnswer(c *ChatProvider) *chatAnswer {
	a := &chatAnswer{signed: c.dialect.Signed, calls: map[int64]*llm.Piece{}}
	a.Key, a.Header = c.options.Key, header
	a.Message.Provider, a.Message.Model = c.dialect.Name, c.options.Model
	return a
}

// take adds a chunk to the answer and returns what of it is to be shown.
func (a *chatAnswer) take(data []byte) (deltas []llm.Delta, err error) {
	var c chunk
	if err := llm.Decode(data, &c); err != nil {
		return nil, err
	}
	if isSet(c.Error) {
		return nil, llm.Refusal(http.StatusOK, nil, data)
	}
	a.Named(c.Model)
	a.Message.Tier = cmp.Or(skein.ServiceTier(c.Tier), a.Message.Tier)
	if c.Usage != nil {
		a.Message.Usage = c.Usage.apart()
	}
	if len(c.Choices) == 0 {
		return nil, nil
	}
	choice := &c.Choices[0]
	d := &choice.Delta
	if s := cmp.Or(d.Reasoning, d.Thought); s != "" {
		deltas = append(deltas, a.reason(s))
	}
	deltas = append(deltas, a.say(d)...)
	for i := range d.Calls {
		deltas = append(deltas, a.call(&d.Calls[i])...)
	}
	if choice.Why != "" {
		a.Message.Stop, a.Ended = choice.Why, true
		a.Cut = choice.Why == "length"
	}
	return deltas, nil
}

func (a *chatAnswer) reason(s string) llm.Delta {
	a.Last(skein.PartReasoning).Grow(s)
	return llm.Delta{Reasoning: s}
}

// say adds a piece of text, which may be a thought.
func (a *chatAnswer) say(d *chatDelta) (deltas []llm.Delta) {
	text := d.Content + d.Refusal
	if a.signed {
		a.sign(d.Extra)
		if thinks(d.Extra) {
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
func thinks(extra json.RawMessage) bool {
	var x struct {
		Google struct{ Thought bool }
	}
	return json.Unmarshal(extra, &x) == nil && x.Google.Thought
}

// sign stores extra, if it has a signature, as reasoning before the signed
// part.
func (a *chatAnswer) sign(extra json.RawMessage) {
	var x struct {
		Google struct {
			Signature string `json:"thought_signature"`
		}
	}
	if json.Unmarshal(extra, &x) != nil || x.Google.Signature == "" {
		return
	}
	p := a.Last(skein.PartReasoning)
	p.Part.Raw, p.Whole = extra, true
}

// call adds a piece of a call. A new call begins with a new index or with
// another ID: some servers give each call the index 0.
func (a *chatAnswer) call(c *callDelta) (deltas []llm.Delta) {
	p := a.calls[c.Index]
	if p == nil || c.ID != "" && p.Part.Call.ID != c.ID {
		a.Close() // earlier pieces are complete
		if a.signed {
			a.sign(c.Extra)
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

// apart returns u with cached input separate from uncached input. If the total
// is more than its parts, the rest was thinking: Google does not count it as
// output.
func (u *chatUsage) apart() *skein.Usage {
	s := &skein.Usage{
		Input: max(0, u.Prompt-u.In.Cached-u.In.CacheWrite), CacheRead: u.In.Cached, CacheWrite: u.In.CacheWrite,
		Output: u.Completion, Reasoning: u.Out.Reasoning,
	}
	if rest := u.Total - u.Prompt - u.Completion; rest > 0 {
		s.Output += rest
		s.Reasoning = max(s.Reasoning, rest)
	}
	return s
}
