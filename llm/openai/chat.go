package openai

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// A Dialect says how a server's Chat Completions differ from OpenAI's.
type Dialect struct {
	Name  string       // of the provider, in sessions and price tables
	Rules window.Rules // rules for its messages

	// Signed says that reasoning comes signed, beside the calls that follow
	// from it or at the end of a text, and must be sent back there: Gemini's
	// extra_content.
	Signed bool

	// Unsigned is the signature for an answer's first call if another model
	// made it; nil for none.
	Unsigned json.RawMessage

	// Newer says that the limit of an answer is named max_completion_tokens, as
	// OpenAI's newer models require, and not max_tokens.
	Newer bool

	// Extra is sent with each request, as extra_body; nil for none.
	Extra any
}

// A ChatProvider reaches a model by the Chat Completions API.
type ChatProvider struct {
	options llm.Options
	dialect Dialect
}

// NewChat returns a Chat for the provider of that name: openai, ollama, vllm,
// openrouter. Without a key, none is sent. The base URL ends with the version:
// http://localhost:11434/v1. Options.Name is ignored.
//
// The error is that of [llm.Options.Check].
func NewChat(name string, o llm.Options) (*ChatProvider, error) {
	rules := window.RulesFor(name, o.Model)
	if name == "openai" {
		rules = window.OpenAIChatRules(o.Model)
	}
	return NewDialect(Dialect{Name: name, Rules: rules, Newer: name == "openai"}, o)
}

// NewDialect returns a Chat that speaks d. Errors as [NewChat].
func NewDialect(d Dialect, o llm.Options) (*ChatProvider, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &ChatProvider{o, d}, nil
}

// About implements [llm.Provider].
func (c *ChatProvider) About() llm.About {
	return llm.About{Provider: c.dialect.Name, Model: c.options.Model, Rules: c.dialect.Rules}
}

// Stream implements [llm.Provider].
func (c *ChatProvider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		a := newChatAnswer(c)
		body, err := c.request(ctx, r)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		a.Stream(ctx, &c.options, post(&c.options, body, "chat", "completions"), a.take, yield)
	}
}
